"""The topics of each fetch, those of its session included, as a plugin sees them."""

from __future__ import annotations

from proxy.core.context import Connection, Context
from proxy.core.fetch_topics import FetchTopics
from proxy.protocol.api import FETCH, SHARE_ACKNOWLEDGE, SHARE_FETCH
from proxy.protocol.fiber import in_slices
from proxy.protocol.messages.fetch import FetchResponse
from proxy.protocol.messages.share_acknowledge import ShareAcknowledgeRequest
from proxy.protocol.schema import Request
from proxy.protocol.slices import ELEMENTS
from proxy.testing import connection
from tests.proxy.core.test_fetch_sessions import BY_NAME, ID, acknowledge, fetch, share

VERSIONS = {FETCH: BY_NAME, SHARE_FETCH: 1, SHARE_ACKNOWLEDGE: 1}


def context(client: Connection, request: Request) -> Context:
    return Context(client, request.api, VERSIONS[request.api], 1)


def test_a_request_of_a_session_is_about_all_topics_of_it() -> None:
    service, client = FetchTopics("faults"), connection()
    opening = context(client, fetch(0, 0, "t", "u"))
    assert [*service.of(opening, fetch(0, 0, "t", "u"))] == ["t", "u"]
    service.answered(opening, FetchResponse(session_id=9, responses=[]))
    for epoch, (asked, forgotten, about) in enumerate([((), "", "tu"), (("v",), "t", "uv"), ((), "", "uv")], 1):
        request = fetch(9, epoch, *asked, forgotten=forgotten)
        ctx = context(client, request)
        assert [*service.of(ctx, request)] == [*about]
        service.answered(ctx, FetchResponse(session_id=9, responses=[]))
    assert service.of(context(client, fetch(9, 9)), fetch(9, 9)) == {}


def test_a_session_that_the_broker_did_not_make_is_none() -> None:
    service, client = FetchTopics("faults"), connection()
    for response in (FetchResponse(responses=[]), FetchResponse(error_code=1, session_id=9, responses=[])):
        ctx = context(client, fetch(0, 0, "t"))
        service.of(ctx, fetch(0, 0, "t"))
        service.answered(ctx, response)
    assert service.of(context(client, fetch(9, 1)), fetch(9, 1)) == {}


def test_a_share_fetch_is_about_all_topics_of_its_session_and_an_acknowledgement_about_its_own() -> None:
    service, client = FetchTopics("faults"), connection()
    for request, about in ((share(0), [ID]), (share(1, forgets=True), []), (acknowledge(2), []), (share(3), [ID])):
        assert [*service.of(context(client, request), request)] == about


def test_a_large_acknowledgement_is_gone_over_in_slices() -> None:
    request = acknowledge(1)
    partition = ShareAcknowledgeRequest.Topic.Partition(partition_index=0, acknowledgement_batches=[])
    topic = ShareAcknowledgeRequest.Topic(topic_id=ID, partitions=[partition] * 3 * ELEMENTS)
    request.topics = [topic] * 2
    slices = in_slices(FetchTopics("faults").of, context(connection(), request), request)
    assert len(list(slices)) == 6


def test_two_plugins_see_sessions_of_their_own() -> None:
    client = connection()
    first, second = (FetchTopics(name) for name in ("faults", "audit"))
    ctx = context(client, fetch(0, 0, "t"))
    first.of(ctx, fetch(0, 0, "t"))
    first.answered(ctx, FetchResponse(session_id=9, responses=[]))
    assert [*first.of(context(client, fetch(9, 1)), fetch(9, 1))] == ["t"]
    assert not second.of(context(client, fetch(9, 1)), fetch(9, 1))


def test_what_went_by_unseen_is_forgotten_with_all_that_is_known_of_the_connection() -> None:
    service, client = FetchTopics("faults"), connection()
    opening = context(client, fetch(0, 0, "t"))
    service.of(opening, fetch(0, 0, "t"))
    service.forget(client)
    service.answered(opening, FetchResponse(session_id=9, responses=[]))
    assert not service.of(context(client, fetch(9, 1)), fetch(9, 1))
