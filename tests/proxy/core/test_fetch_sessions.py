"""The session of a fetch: found by its id or its member, and checked by its epoch."""

from __future__ import annotations

import pytest

from proxy.core.fetch_session import LAST as LAST_EPOCH
from proxy.core.fetch_session import MOST_PARTITIONS, MOST_TOPICS, PARTITION, TOPIC, FetchedTopic, FetchSession
from proxy.core.fetch_sessions import FULL, LAST, MOST, FetchSessions
from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.fetch import FetchRequest
from proxy.protocol.messages.share_acknowledge import ShareAcknowledgeRequest
from proxy.protocol.messages.share_fetch import ShareFetchRequest

BY_NAME, BY_ID = 12, 13
Partition = ShareFetchRequest.Topic.Partition
ID = bytes(15) + b"\1"


def fetch(session_id: int, epoch: int, *topics: str, forgotten: str = "") -> FetchRequest:
    partition = FetchRequest.Topic.Partition(partition=1, fetch_offset=7, partition_max_bytes=9)
    return FetchRequest(
        replica_id=-1,
        max_wait_ms=0,
        min_bytes=0,
        session_id=session_id,
        session_epoch=epoch,
        topics=[FetchRequest.Topic(topic=name, partitions=[partition]) for name in topics],
        forgotten_topics_data=[FetchRequest.ForgottenTopic(topic=forgotten, partitions=[1])] * bool(forgotten),
    )


def share(epoch: int, *, acknowledges: bool = False, forgets: bool = False) -> ShareFetchRequest:
    batch = Partition.AcknowledgementBatch(first_offset=0, last_offset=0, acknowledge_types=[1])
    partition = Partition(partition_index=1, acknowledgement_batches=[batch] * acknowledges)
    return ShareFetchRequest(
        group_id="g",
        member_id="m",
        share_session_epoch=epoch,
        max_wait_ms=0,
        min_bytes=0,
        topics=[ShareFetchRequest.Topic(topic_id=ID, partitions=[partition])] * (not forgets),
        forgotten_topics_data=[ShareFetchRequest.ForgottenTopic(topic_id=ID, partitions=[1])] * forgets,
    )


def acknowledge(epoch: int) -> ShareAcknowledgeRequest:
    return ShareAcknowledgeRequest(group_id="g", member_id="m", share_session_epoch=epoch, topics=[])


@pytest.fixture
def sessions() -> FetchSessions[FetchSession]:
    return FetchSessions(FetchSession)


@pytest.mark.parametrize(("version", "epoch", "opens"), [(6, FULL, False), (12, LAST, False), (12, FULL, True)])
def test_a_full_request_is_by_itself_and_closes_the_session_that_it_names(
    sessions: FetchSessions[FetchSession], version: int, epoch: int, *, opens: bool
) -> None:
    there = FetchSession(by_id=False)
    sessions.open(5, there)
    turn = sessions.fetch(version, fetch(5, epoch, "t", forgotten="t"))
    assert (turn.opens, turn.goes_on, turn.error, turn.forgotten) == (opens, False, None, [])
    assert turn.session is not there
    assert not there.is_open


def test_a_request_goes_on_with_its_session_in_its_turn(sessions: FetchSessions[FetchSession]) -> None:
    there = FetchSession(by_id=False)
    sessions.open(5, there)
    for epoch in (1, 2, 3):
        turn = sessions.fetch(BY_NAME, fetch(5, epoch, "t", forgotten="u"))
        assert (turn.session, turn.goes_on, turn.error) == (there, True, None)
        assert [one.topic for one in (*turn.asked, *turn.forgotten)] == ["t", "u"]
    there.epoch = LAST_EPOCH
    assert sessions.fetch(BY_NAME, fetch(5, LAST_EPOCH)).goes_on
    assert there.epoch == 1


@pytest.mark.parametrize(
    ("version", "session_id", "epoch", "error"),
    [
        (BY_NAME, 6, 1, ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        (BY_NAME, 5, 2, ErrorCode.INVALID_FETCH_SESSION_EPOCH),
        (BY_ID, 5, 1, ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR),
    ],
)
def test_a_request_that_finds_its_session_otherwise_is_an_error_and_changes_nothing(
    sessions: FetchSessions[FetchSession], version: int, session_id: int, epoch: int, error: ErrorCode
) -> None:
    there = FetchSession(by_id=False)
    sessions.open(5, there)
    turn = sessions.fetch(version, fetch(session_id, epoch))
    assert (turn.error, turn.goes_on) == (error, False)
    assert turn.session is not there
    assert (there.epoch, there.is_open) == (1, True)


def test_a_session_that_becomes_empty_is_given_up(sessions: FetchSessions[FetchSession]) -> None:
    there = FetchSession(by_id=False)
    there.take([FetchedTopic("t", {1: None})], [])
    sessions.open(5, there)
    request = fetch(5, 1)
    assert not sessions.gives_up(request, sessions.fetch(BY_NAME, request))
    request = fetch(5, 2, forgotten="t")
    turn = sessions.fetch(BY_NAME, request)
    there.take(turn.asked, turn.forgotten)
    assert sessions.gives_up(request, turn)
    assert not there.is_open


def of_size(topics: int, partitions: int) -> FetchSession:
    """A session of so many topics, with so many partitions each."""
    session = FetchSession(by_id=True)
    session.take([FetchedTopic(f"t-{n}", dict.fromkeys(range(partitions))) for n in range(topics)], [])
    return session


def test_as_much_as_the_largest_clients_fetch_is_a_session(sessions: FetchSessions[FetchSession]) -> None:
    for session in (of_size(10_000, 20), of_size(1, 200_000)):
        sessions.open(5, session)
        assert sessions.fetch(BY_ID, fetch(5, 1)).goes_on


@pytest.mark.parametrize(("topics", "partitions"), [(MOST_TOPICS + 1, 1), (2, MOST_PARTITIONS)])
def test_a_session_that_has_more_is_not_found_and_its_client_begins_anew(
    sessions: FetchSessions[FetchSession], topics: int, partitions: int
) -> None:
    there, shared = of_size(topics, partitions), of_size(topics, partitions)
    sessions.open(5, there)
    assert sessions.fetch(BY_ID, fetch(5, 1)).error == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    sessions.open(("g", "m"), shared)
    assert sessions.share_fetch(share(1)).error == ErrorCode.SHARE_SESSION_NOT_FOUND
    assert not there.is_open
    assert not shared.is_open
    assert sessions.held == 0
    sessions.open(6, sessions.fetch(BY_ID, fetch(5, FULL)).session)
    assert sessions.fetch(BY_ID, fetch(6, 1)).goes_on


def test_a_share_session_is_opened_used_and_closed_by_its_member(sessions: FetchSessions[FetchSession]) -> None:
    opened = sessions.share_fetch(share(FULL, forgets=True))
    assert (opened.forgotten, opened.goes_on) == ([], False)
    assert sessions.get(share(FULL)) is opened.session
    sessions.acknowledge(acknowledge(1))
    sessions.acknowledge(acknowledge(1))  # is none
    turn = sessions.share_fetch(share(2, forgets=True))
    assert (turn.session, turn.goes_on) == (opened.session, True)
    assert turn.forgotten == [FetchedTopic(ID, {1: None})]
    last = sessions.share_fetch(share(LAST, forgets=True))
    assert (last.error, last.forgotten, last.goes_on) == (None, [], False)
    assert not opened.session.is_open
    sessions.share_fetch(share(FULL))
    sessions.acknowledge(acknowledge(LAST))
    assert sessions.get(share(FULL)) is None


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (share(FULL, acknowledges=True), ErrorCode.INVALID_REQUEST),
        (share(1), ErrorCode.SHARE_SESSION_NOT_FOUND),
        (share(LAST), ErrorCode.SHARE_SESSION_NOT_FOUND),
    ],
)
def test_a_share_fetch_without_its_session_is_an_error(
    sessions: FetchSessions[FetchSession], request_: ShareFetchRequest, error: ErrorCode
) -> None:
    assert sessions.share_fetch(request_).error == error
    assert sessions.get(request_) is None


def test_a_share_fetch_out_of_turn_is_an_error(sessions: FetchSessions[FetchSession]) -> None:
    there = sessions.share_fetch(share(FULL)).session
    assert sessions.share_fetch(share(2)).error == ErrorCode.INVALID_SHARE_SESSION_EPOCH
    assert there.epoch == 1


def test_what_is_acknowledged_is_not_remembered(sessions: FetchSessions[FetchSession]) -> None:
    there = sessions.share_fetch(share(FULL)).session
    turn = sessions.share_fetch(share(1, acknowledges=True))
    there.take(turn.asked, [])
    assert turn.asked[0].partitions[1].acknowledgement_batches
    assert not there.topics[ID][1].acknowledgement_batches


def test_what_is_asked_for_and_forgotten_is_forgotten_and_nothing_is_held() -> None:
    session = FetchSession(by_id=False)
    session.take([FetchedTopic("t" * 5, {1: None, 2: None})], [])
    content = session.content
    assert session.held == 2 * PARTITION + TOPIC + 20
    session.take([FetchedTopic("t" * 5, {1: None})], [])
    assert session.content is content
    session.take([FetchedTopic("u", {1: None})], [FetchedTopic("u", {1: None}), FetchedTopic("t" * 5, {1: 0, 2: 0})])
    assert session.content is not content
    assert (session.topics, session.size, session.held) == ({}, 0, 0)


def test_the_oldest_session_is_given_up_where_there_are_too_many(sessions: FetchSessions[FetchSession]) -> None:
    opened = [FetchSession(by_id=False) for _ in range(MOST + 1)]
    for number, session in enumerate(opened):
        sessions.open(number, session)
    assert (sessions.get(fetch(0, 1)), opened[0].is_open) == (None, False)
    assert (sessions.get(fetch(1, 1)), opened[1].is_open) == (opened[1], True)
    sessions.close(fetch(1, 1))
    assert (sessions.get(fetch(1, 1)), opened[1].is_open) == (None, False)
