"""The example that gives each tenant its own topics."""

from __future__ import annotations

import pytest

from plugins.examples.tenant_topics import MOST, NOT_OFFERED, TenantTopics
from proxy.plugin import (
    API_VERSIONS,
    APIS,
    CREATE_ACLS,
    DESCRIBE_TOPIC_PARTITIONS,
    FETCH,
    METADATA,
    PRODUCE,
    ApiVersionsRequest,
    ApiVersionsResponse,
    Arrival,
    ConsumerAssignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerSubscription,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    Disconnect,
    ElectLeadersRequest,
    ErrorCode,
    FetchRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    Meaning,
    Message,
    MetadataRequest,
    MetadataResponse,
    OffsetCommitRequest,
    OffsetFetchRequest,
    OffsetFetchResponse,
    SyncGroupRequest,
    SyncGroupResponse,
    read_embedded,
    structs_with,
)
from proxy.testing import MessageExchange, build, connection, from_client, request_frame
from tests.plugins.examples.talk import batch, produce

PREFIXES = {"acme": "acme.", "globex": "globex.", "admin": ""}


def tenants() -> TenantTopics:
    return build(TenantTopics, prefixes=PREFIXES)


def of(listener: str) -> MessageExchange:
    """A client of this tenant."""
    client = connection()
    client.listener = listener
    return MessageExchange(tenants(), client=client)


def named(message: Message) -> list[str]:
    """The topics in a message."""
    return [
        getattr(struct, field.name)
        for struct in structs_with(message, Meaning.TOPIC_NAME)
        for field in struct.fields
        if field.meaning is Meaning.TOPIC_NAME
    ]


def test_a_topic_of_one_tenant_is_none_of_anothers() -> None:
    assert named(of("acme").ask(produce(batch(b"a")), 9)) == ["acme.orders"]
    assert named(of("globex").ask(produce(batch(b"a")), 9)) == ["globex.orders"]
    assert named(of("admin").ask(produce(batch(b"a")), 9)) == ["orders"]


def metadata(*names: str) -> MetadataResponse:
    topics = [MetadataResponse.Topic(error_code=0, name=name, partitions=[]) for name in names]
    return MetadataResponse(brokers=[], topics=topics)


def test_all_topics_are_all_of_the_tenant() -> None:
    acme = of("acme")
    assert acme.ask(MetadataRequest(topics=None), 9).topics is None
    answer = acme.answer(metadata("acme.orders", "globex.orders", "__consumer_offsets", "acme.pay", "acmes"), 9)
    assert named(answer) == ["orders", "pay"]


def test_offsets_of_groups_are_kept_under_the_brokers_names() -> None:
    acme, topic = of("acme"), OffsetCommitRequest.Topic(name="orders", partitions=[])
    assert named(acme.ask(OffsetCommitRequest(group_id="g", topics=[topic]), 8)) == ["acme.orders"]


def test_all_offsets_of_a_group_are_those_of_the_tenants_topics() -> None:
    acme = of("acme")
    group = OffsetFetchRequest.Group(group_id="g", topics=None)
    assert acme.ask(OffsetFetchRequest(groups=[group]), 9).groups[0].topics is None
    topics = [OffsetFetchResponse.Group.Topic(name=name, partitions=[]) for name in ("acme.a", "globex.a")]
    answer = acme.answer(
        OffsetFetchResponse(groups=[OffsetFetchResponse.Group(error_code=0, group_id="g", topics=topics)]), 9
    )
    assert named(answer) == ["a"]


def test_configurations_of_topics_are_those_of_the_tenants() -> None:
    acme = of("acme")
    wanted = [(2, "orders"), (4, "1")]
    resources = [
        DescribeConfigsRequest.Resource(resource_type=kind, resource_name=name, configuration_keys=None)
        for kind, name in wanted
    ]
    asked = acme.ask(DescribeConfigsRequest(resources=resources), 4)
    assert [each.resource_name for each in asked.resources] == ["acme.orders", "1"]
    results = [
        DescribeConfigsResponse.Result(
            error_code=0, error_message=None, resource_type=kind, resource_name=name, configs=[]
        )
        for kind, name in ((2, "acme.orders"), (4, "1"), (2, "globex.orders"))
    ]
    answer = acme.answer(DescribeConfigsResponse(throttle_time_ms=0, results=results), 4)
    assert [each.resource_name for each in answer.results] == ["orders", "1"]


def test_what_an_error_says_is_in_the_clients_words() -> None:
    acme = of("acme")
    wanted = CreateTopicsRequest.Topic(name="a", num_partitions=1, replication_factor=1, assignments=[], configs=[])
    assert named(acme.ask(CreateTopicsRequest(topics=[wanted], timeout_ms=1), 5)) == ["acme.a"]
    topic = CreateTopicsResponse.Topic(name="acme.a", error_code=36, error_message="Topic 'acme.a' already exists.")
    (told,) = acme.answer(CreateTopicsResponse(topics=[topic]), 5).topics
    assert (told.name, told.error_message) == ("a", "Topic 'a' already exists.")


def offered_to(listener: str) -> dict[int, tuple[int, int]]:
    theirs = [
        ApiVersionsResponse.ApiVersion(api_key=api.key, min_version=0, max_version=api.newest)
        for api in APIS.values()
        if not api.inter_broker
    ]
    asking = of(listener)
    asking.ask(ApiVersionsRequest(), 2)
    answer = asking.answer(ApiVersionsResponse(error_code=0, api_keys=theirs), 2)
    return {entry.api_key: (entry.min_version, entry.max_version) for entry in answer.api_keys}


def test_versions_are_offered_in_which_topics_have_names() -> None:
    offered = offered_to("acme")
    assert offered[FETCH.key] == (0, 12)
    assert offered[PRODUCE.key] == (0, 12)
    assert offered[METADATA.key] == (0, 9)
    assert offered[API_VERSIONS.key] == (0, API_VERSIONS.newest)
    for api in (*NOT_OFFERED, ConsumerGroupHeartbeatRequest.api):
        assert api.key not in offered
    assert offered_to("admin")[FETCH.key] == (0, FETCH.newest)


def test_an_election_of_all_partitions_is_refused() -> None:
    answer = of("acme").ask(ElectLeadersRequest(topic_partitions=None), 2)
    assert answer.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    assert isinstance(of("admin").ask(ElectLeadersRequest(topic_partitions=None), 2), ElectLeadersRequest)


def test_a_request_by_id_is_refused() -> None:
    topic = FetchRequest.Topic(topic_id=bytes(15) + b"\1", partitions=[])
    answer = of("acme").ask(FetchRequest(max_wait_ms=1, min_bytes=1, topics=[topic]), 13)
    assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION


def test_a_listener_without_a_tenant_takes_nobody() -> None:
    assert tenants().accepted(Arrival(("192.0.2.1", 1), "acme", "main", None)) is None
    decision = tenants().accepted(Arrival(("192.0.2.1", 1), "other", "main", None))
    assert isinstance(decision, Disconnect)
    assert decision.reason == '"prefixes" of plugin does not name the listener other'


@pytest.mark.parametrize("prefixes", [{"a": "a.", "b": "a.b."}, {"a": "a.", "b": "a."}])
def test_tenants_who_would_see_each_other_are_refused(prefixes: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r'begins with "a\." of a, who would see its topics'):
        build(TenantTopics, prefixes=prefixes)


def test_the_apis_that_are_never_offered_are_named() -> None:
    assert {CREATE_ACLS, DESCRIBE_TOPIC_PARTITIONS} <= set(NOT_OFFERED)


SUBSCRIPTION = (
    bytes.fromhex("0001 00000001 0006") + b"orders" + bytes.fromhex("ffffffff 00000001 0003") + b"pay" + bytes(4)
)
ASSIGNMENT = bytes.fromhex("0000 00000001 0006") + b"orders" + bytes.fromhex("00000001 00000000 ffffffff")


def joining(kind: str = "consumer", metadata: bytes = SUBSCRIPTION) -> JoinGroupRequest:
    protocol = JoinGroupRequest.Protocol(name="range", metadata=metadata)
    return JoinGroupRequest(group_id="g", session_timeout_ms=1, member_id="", protocol_type=kind, protocols=[protocol])


def test_what_a_member_wants_to_read_is_told_in_the_brokers_words() -> None:
    acme = of("acme")
    told = acme.ask(joining(), 5).protocols[0].metadata
    subscription, version, rest = read_embedded(ConsumerSubscription, told)
    assert (subscription.topics, version, rest) == (["acme.orders"], 1, b"")
    assert [one.topic for one in subscription.owned_partitions] == ["acme.pay"]
    members = [JoinGroupResponse.Member(member_id="m", metadata=told)]
    leader = JoinGroupResponse(error_code=0, protocol_name="range", leader="m", member_id="m", members=members)
    assert acme.answer(leader, 5).members[0].metadata == SUBSCRIPTION


def test_what_a_member_is_to_read_is_told_in_the_brokers_words() -> None:
    acme = of("acme")
    acme.ask(joining(), 5)
    acme.answer(JoinGroupResponse(error_code=0, protocol_name="", leader="m", member_id="m", members=[]), 5)
    assignments = [SyncGroupRequest.Assignment(member_id="m", assignment=ASSIGNMENT)]
    asked = acme.ask(SyncGroupRequest(group_id="g", generation_id=1, member_id="m", assignments=assignments), 3)
    told = asked.assignments[0].assignment
    assert named(read_embedded(ConsumerAssignment, told)[0]) == ["acme.orders"]
    assert acme.answer(SyncGroupResponse(error_code=0, assignment=told), 3).assignment == ASSIGNMENT


@pytest.mark.parametrize(("version", "kind"), [(5, "consumer"), (5, None), (3, None)])
def test_a_leader_that_syncs_by_another_connection_is_understood_or_joins_again(version: int, kind: str | None) -> None:
    acme = of("acme")
    assignments = [SyncGroupRequest.Assignment(member_id="m", assignment=ASSIGNMENT)]
    sync = SyncGroupRequest(group_id="g", generation_id=1, member_id="m", assignments=assignments)
    sync.protocol_type, sync.protocol_name = kind, "range"
    told = acme.ask(sync, version)
    if kind is None:
        assert (type(told), told.error_code) == (SyncGroupResponse, ErrorCode.REBALANCE_IN_PROGRESS)
    else:
        assert named(read_embedded(ConsumerAssignment, told.assignments[0].assignment)[0]) == ["acme.orders"]


def test_a_member_that_joins_a_group_of_another_kind_meanwhile_hears_of_no_other_tenants_topics() -> None:
    acme = of("acme")
    told = acme.ask(joining(), 5).protocols[0].metadata
    other = joining("connect")
    other.group_id = "h"
    from_client(acme.link, bytearray(request_frame(other, 5, 2, "app")))
    members = [JoinGroupResponse.Member(member_id="m", metadata=told.replace(b"acme.", b"hide."))]
    leader = JoinGroupResponse(error_code=0, protocol_name="range", leader="m", member_id="m", members=members)
    heard = read_embedded(ConsumerSubscription, acme.answer(leader, 5).members[0].metadata)[0]
    assert heard.topics == []


def test_the_kinds_of_groups_that_are_remembered_are_bounded() -> None:
    acme = of("acme")
    for number in range(3 * MOST):
        request = joining()
        request.group_id = f"g-{number}"
        acme.ask(request, 5)
        acme.answer(JoinGroupResponse(error_code=0, protocol_name="", leader="", member_id="m", members=[]), 5)
    (kinds,) = (note for note in acme.connection.notes.values() if isinstance(note, dict))
    assert len(kinds) <= MOST


@pytest.mark.parametrize("asked", [joining("connect"), joining(metadata=b""), joining(metadata=SUBSCRIPTION[:-1])])
def test_what_is_no_subscription_is_left_as_it_is(asked: JoinGroupRequest) -> None:
    assert of("acme").ask(asked, 5) == asked


def test_whoever_describes_a_group_hears_of_topics_in_the_clients_words() -> None:
    acme = of("acme")
    acme.ask(DescribeGroupsRequest(groups=["g", "h"]), 4)
    groups = [
        DescribeGroupsResponse.Group(
            error_code=0,
            group_id=kind,
            group_state="Stable",
            protocol_type=kind,
            protocol_data="range",
            members=[
                DescribeGroupsResponse.Group.Member(
                    member_id="m",
                    client_id="app",
                    client_host="/h",
                    member_metadata=SUBSCRIPTION.replace(b"\x00\x06orders", b"\x00\x0bacme.orders"),
                    member_assignment=b"",
                )
            ],
        )
        for kind in ("consumer", "connect")
    ]
    answer = acme.answer(DescribeGroupsResponse(groups=groups), 4)
    told = [group.members[0].member_metadata for group in answer.groups]
    assert read_embedded(ConsumerSubscription, told[0])[0].topics == ["orders"]
    assert b"acme.orders" in told[1]
