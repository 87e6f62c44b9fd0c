"""ApiVersions: the versions that the proxy advertises to clients."""

import pytest

from plugins.api_versions import LONGEST, OURS, READ_BY_MOCK, WITHOUT_FEATURES, ApiVersions, common
from proxy.core.commands import PauseClient, ResumeClient, ToBroker, ToClient
from proxy.core.context import Connection, Context
from proxy.core.decisions import Forward, Reply
from proxy.core.decorators import on_response
from proxy.core.plugin import Plugin
from proxy.core.topology import Endpoint, Topology
from proxy.protocol.api import API_VERSIONS, APIS, ENVELOPE, FETCH, JOIN_GROUP, LEAVE_GROUP, PRODUCE, SYNC_GROUP, VOTE
from proxy.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from proxy.protocol.problem import ProtocolError
from proxy.protocol.releases import accepted, releases
from proxy.testing import FromBroker, FromClient, Playbook, build
from tests.proxy.core.frames import answering, asking

Entry = ApiVersionsResponse.ApiVersion


def entry(key, low, high):
    return Entry(api_key=key, min_version=low, max_version=high)


def context(version):
    topology = Topology(lambda node_id: Endpoint("outside", node_id))
    return Context(Connection(("127.0.0.1", 1), "clients", "main", topology), API_VERSIONS, version, 1)


def converse(version, answers):
    """The questions that the broker is asked in turn, and what the client is told in the end."""
    ctx = context(version)
    request = ApiVersionsRequest(client_software_name="me", client_software_version="1")
    steps = build(ApiVersions).negotiate(ctx, request)
    asked = [next(steps)]
    for answer in answers:
        try:
            asked.append(steps.throw(answer) if isinstance(answer, Exception) else steps.send(answer))
        except StopIteration as end:
            return [ask.version for ask in asked], end.value, ctx
    raise AssertionError(f"one question too many: {asked[-1]}")


def test_a_range_ends_where_the_proxy_or_the_broker_ends_and_begins_where_the_broker_says():
    ranges = common([entry(PRODUCE.key, 0, 99), entry(FETCH.key, 4, 11)])
    assert [(e.min_version, e.max_version) for e in ranges] == [(0, PRODUCE.newest), (4, 11)]


def test_what_only_brokers_say_or_nobody_knows_is_not_advertised():
    assert common([entry(VOTE.key, 0, 1), entry(ENVELOPE.key, 0, 0), entry(500, 0, 0), entry(FETCH.key, 99, 100)]) == []


def test_the_broker_is_asked_in_the_clients_words_and_its_features_travel_on():
    answer = ApiVersionsResponse(error_code=0, api_keys=[entry(FETCH.key, 4, 17)])
    answer.finalized_features = [
        ApiVersionsResponse.FinalizedFeature(name="group.version", max_version_level=1, min_version_level=1)
    ]
    asked, decision, ctx = converse(4, [answer])
    assert asked == [4]
    assert isinstance(decision, Reply)
    assert decision.message.finalized_features == answer.finalized_features
    assert decision.version is None
    assert ctx.connection.software_name == "me"
    assert ctx.connection.broker_versions == {FETCH.key: (4, 17)}


@pytest.mark.parametrize(("keys", "then"), [([entry(18, 0, 3)], 3), ([], 0)])
def test_a_broker_that_does_not_know_the_clients_version_is_asked_in_one_that_it_knows(keys, then):
    asked, decision, _ = converse(
        5,
        [
            ApiVersionsResponse(error_code=35, api_keys=keys),
            ApiVersionsResponse(error_code=0, api_keys=[entry(1, 0, 5)]),
        ],
    )
    assert asked == [5, then]
    assert decision.message.api_keys == [entry(1, 0, 5)]


def test_an_answer_that_cannot_be_read_is_asked_for_again_without_features():
    asked, decision, _ = converse(
        3, [ProtocolError("malformed"), ApiVersionsResponse(error_code=0, api_keys=[entry(1, 0, 5)])]
    )
    assert asked == [3, 2]
    assert isinstance(decision, Reply)


@pytest.mark.parametrize("version", [0, 2, 3])
def test_what_librdkafkas_mock_cluster_reads_wrongly_is_not_advertised(version):
    theirs = [entry(18, 0, 2), entry(JOIN_GROUP.key, 0, 6), entry(SYNC_GROUP.key, 0, 4), entry(LEAVE_GROUP.key, 0, 4)]
    malformed = [ProtocolError("malformed")] if version == 3 else []
    _, decision, _ = converse(version, [*malformed, ApiVersionsResponse(error_code=0, api_keys=theirs)])
    assert [it.max_version for it in decision.message.api_keys] == [2, 5, 3, 2]


def test_of_a_release_of_kafka_nothing_is_taken_for_the_mock_clusters():
    for zookeeper in (False, True):
        for release in releases(zookeeper=zookeeper):
            known = accepted(release, API_VERSIONS.key, zookeeper=zookeeper)
            if known and known.stop <= WITHOUT_FEATURES + 1:
                for key, most in READ_BY_MOCK.items():
                    assert accepted(release, key, zookeeper=zookeeper).stop - 1 <= most, release


def test_the_brokers_refusal_is_the_clients():
    _, decision, _ = converse(3, [ApiVersionsResponse(error_code=42, api_keys=[])])
    assert decision.message.error_code == 42


def test_a_client_newer_than_all_is_told_the_versions_of_this_one_api_in_v0():
    decision = build(ApiVersions).unknown_version(context(99))
    assert isinstance(decision, Reply)
    assert decision.version == 0
    assert decision.message == ApiVersionsResponse(error_code=35, api_keys=[entry(18, 0, 5)])


@pytest.mark.parametrize(("known", "answered"), [(False, True), (True, False)])
def test_what_cannot_be_read_is_answered_where_the_broker_does_not_know_the_version_either(known, answered):
    steps = build(ApiVersions).unread(context(5))
    assert next(steps).version == 5
    answer = ApiVersionsResponse(error_code=0 if known else 35, api_keys=[entry(18, 0, 4)])
    with pytest.raises(StopIteration) as end:
        steps.send(answer)
    assert end.value.value == (Reply(answer, version=0) if answered else None)


def test_a_client_that_sends_what_is_no_request_in_a_version_newer_than_its_brokers_is_told_which_are_known() -> None:
    asked = ApiVersionsRequest(client_software_name=OURS, client_software_version="1")
    told = answering(ApiVersionsResponse(error_code=35, api_keys=[entry(API_VERSIONS.key, 0, 4)]), 7, 0)
    broken = asking(asked, 7, 5)[:-3] + b"\xff\xff\xff"
    assert (
        Playbook(build(ApiVersions), byte_by_byte=False)
        >> FromClient(broken)
        << ToBroker(asking(asked, 0, 5))
        << PauseClient()
        >> FromBroker(answering(ApiVersionsResponse(error_code=35, api_keys=[entry(API_VERSIONS.key, 0, 4)]), 0, 0))
        << ToClient(told)
        << ResumeClient()
    )


class Narrowing(Plugin):
    """Cannot honour Fetch beyond version 11."""

    @on_response(ApiVersionsResponse, fields="api_keys")
    def narrow(self, ctx, response):
        for each in response.api_keys:
            if each.api_key == FETCH.key:
                each.max_version = min(each.max_version, 11)
        return Forward(response)


def test_a_plugin_has_a_say_in_what_is_advertised():
    request = ApiVersionsRequest(client_software_name="test", client_software_version="1")
    told, narrowed = (ApiVersionsResponse(error_code=0, api_keys=[entry(1, 0, newest)]) for newest in (17, 11))
    assert (
        Playbook(Narrowing(), build(ApiVersions), byte_by_byte=False)
        >> FromClient(asking(request, 1, 3))
        << ToBroker(asking(request, 0, 3))
        << PauseClient()
        >> FromBroker(answering(told, 0, 3))
        << ToClient(answering(narrowed, 1, 3))
        << ResumeClient()
    )


def test_every_api_for_clients_is_advertised_if_the_broker_has_it():
    everything = [entry(api.key, 0, api.newest) for api in APIS.values()]
    assert {e.api_key for e in common(everything)} == {api.key for api in APIS.values() if not api.inter_broker}


def test_of_what_a_client_calls_its_software_only_the_beginning_is_kept() -> None:
    ctx = context(3)
    request = ApiVersionsRequest(client_software_name="n" * 1_000_000, client_software_version="v" * 1_000_000)
    asked = next(build(ApiVersions).negotiate(ctx, request))
    assert asked.request is request, "the broker gets all of it"
    assert ctx.connection.software_name == "n" * LONGEST
    assert ctx.connection.software_version == "v" * LONGEST


def test_of_what_a_broker_advertises_only_known_apis_are_kept() -> None:
    everything = [entry(key, 0, key % 100) for key in range(30_000)]
    _, _, ctx = converse(3, [ApiVersionsResponse(error_code=0, api_keys=everything)])
    assert ctx.connection.broker_versions.keys() == APIS.keys() & set(range(30_000))
