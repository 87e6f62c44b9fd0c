"""Changes to responses: refusals are put in place, lists are filtered, groups and operations are checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from plugins.acl.checked_request import ApiError, CheckedRequest
from plugins.acl.request_authorizer import MOST_EVENTS, authorizer_of
from proxy.core.context import ELEMENT, Context
from proxy.core.decisions import Forward, Reply
from proxy.core.topic_names import TopicNames
from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.alter_configs import AlterConfigsRequest, AlterConfigsResponse
from proxy.protocol.messages.consumer_group_describe import (
    Assignment,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    TopicPartitions,
)
from proxy.protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from proxy.protocol.messages.describe_configs import DescribeConfigsRequest
from proxy.protocol.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from proxy.protocol.messages.describe_transactions import DescribeTransactionsRequest, DescribeTransactionsResponse
from proxy.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from proxy.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from proxy.protocol.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from proxy.protocol.walk import arrays
from tests.plugins.acl.talk import Rules, Talk, metadata_of, topic_id

Making = Callable[..., Rules]
OWN = "acls: [{allow: User:alice, to: Describe, topics: mine, groups: mine, transactional_ids: mine}]"
GROUP, TOPIC, CLUSTER, TRANSACTION = (
    ErrorCode.GROUP_AUTHORIZATION_FAILED,
    ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
)
DESCRIBE, READ, DELETE, ALTER = 1 << 8, 1 << 3, 1 << 6, 1 << 7


def listed(*names: str) -> ListGroupsResponse:
    group = ListGroupsResponse.Group
    return ListGroupsResponse(error_code=0, groups=[group(group_id=name, protocol_type="") for name in names])


@pytest.mark.parametrize("version", range(6))
@pytest.mark.parametrize(
    ("own", "seen"),
    [
        (OWN, ["mine"]),
        ("acls: [{allow: User:alice, to: Describe, cluster: true}]", ["mine", "theirs"]),
        ("acls: []", []),
    ],
)
def test_groups_are_listed_to_who_may_see_them(rules: Making, version: int, own: str, seen: list[str]) -> None:
    talk = Talk(rules(own).acl)
    talk.ask(ListGroupsRequest(), version)
    answer = talk.answer(listed("mine", "theirs"))
    assert [group.group_id for group in answer.groups] == seen


@pytest.mark.parametrize("before", ["groups: '*'", "cluster: true"])
def test_what_a_list_shows_is_decided_by_the_rules_in_force_when_its_answer_comes(rules: Making, before: str) -> None:
    own = rules(f"acls: [{{allow: User:alice, to: Describe, {before}}}]")
    talk = Talk(own.acl)
    talk.ask(ListGroupsRequest(), 4)
    own.become(OWN)
    assert [group.group_id for group in talk.answer(listed("mine", "theirs")).groups] == ["mine"]


@pytest.mark.parametrize("version", range(3))
def test_transactions_are_listed_to_who_may_see_them(rules: Making, version: int) -> None:
    talk = Talk(rules(OWN).acl)
    talk.ask(ListTransactionsRequest(state_filters=[], producer_id_filters=[]), version)
    one = ListTransactionsResponse.Transaction
    states = [one(transactional_id=name, producer_id=1, transaction_state="Ongoing") for name in ("mine", "theirs")]
    answer = talk.answer(
        ListTransactionsResponse(throttle_time_ms=0, error_code=0, unknown_state_filters=[], transaction_states=states)
    )
    assert [each.transactional_id for each in answer.transaction_states] == ["mine"]


def test_transactions_are_told_in_order_and_without_topics_that_may_not_be_seen(rules: Making) -> None:
    talk = Talk(rules(OWN).acl)
    talk.ask(DescribeTransactionsRequest(transactional_ids=["a", "mine", "b"]), 0)
    assert talk.to_broker[0].transactional_ids == ["mine"]
    one = DescribeTransactionsResponse.Transaction
    state = one(
        error_code=0,
        transactional_id="mine",
        transaction_state="Ongoing",
        transaction_timeout_ms=1,
        transaction_start_time_ms=1,
        producer_id=1,
        producer_epoch=1,
        topics=[one.Topic(topic=name, partitions=[0]) for name in ("mine", "theirs")],
    )
    answer = talk.answer(DescribeTransactionsResponse(throttle_time_ms=0, transaction_states=[state]))
    assert [(each.transactional_id, each.error_code) for each in answer.transaction_states] == [
        ("a", TRANSACTION),
        ("mine", 0),
        ("b", TRANSACTION),
    ]
    assert [topic.topic for topic in answer.transaction_states[1].topics] == ["mine"]


@pytest.mark.parametrize("version", range(2, 11))
def test_of_all_offsets_those_of_topics_that_may_be_seen_are_told(rules: Making, version: int) -> None:
    known = {name: topic_id(name) for name in ("mine", "theirs")}
    talk = Talk(
        rules(OWN).acl, "User:alice", lambda it, v: metadata_of(known, it) if isinstance(it, MetadataRequest) else None
    )
    group = OffsetFetchRequest.Group(group_id="mine", topics=None)
    talk.ask(OffsetFetchRequest(group_id="mine", topics=None, groups=[group]), version)
    topics: list[Any] = [
        OffsetFetchResponse.Group.Topic(name=name, topic_id=topic_id(name), partitions=[]) for name in known
    ]
    whole = OffsetFetchResponse(
        topics=[OffsetFetchResponse.Topic(name=name, partitions=[]) for name in known],
        groups=[OffsetFetchResponse.Group(group_id="mine", topics=topics, error_code=0)],
    )
    answer = talk.answer(whole)
    told = answer.topics if version < 8 else answer.groups[0].topics
    assert [each.name or each.topic_id.rstrip(b"\0").decode() for each in told] == ["mine"]


def described(group_id: str, *topics: str) -> ConsumerGroupDescribeResponse.Group:
    assigned = Assignment(
        topic_partitions=[TopicPartitions(topic_id=topic_id(name), topic_name=name, partitions=[0]) for name in topics]
    )
    member = ConsumerGroupDescribeResponse.Group.Member(
        member_id="m",
        member_epoch=1,
        client_id="c",
        client_host="h",
        subscribed_topic_names=[],
        assignment=assigned,
        target_assignment=assigned,
    )
    return ConsumerGroupDescribeResponse.Group(
        error_code=0,
        group_id=group_id,
        group_state="Stable",
        group_epoch=1,
        assignment_epoch=1,
        assignor_name="range",
        members=[member],
        authorized_operations=READ | DESCRIBE,
    )


@pytest.mark.parametrize("version", [0, 1])
def test_a_group_with_a_topic_that_may_not_be_seen_is_refused(rules: Making, version: int) -> None:
    talk = Talk(rules("acls: [{allow: User:alice, to: Describe, topics: mine, groups: [a, b]}]").acl)
    talk.ask(ConsumerGroupDescribeRequest(group_ids=["a", "b", "c"], include_authorized_operations=True), version)
    groups = [described("a", "mine"), described("b", "mine", "theirs")]
    answer = talk.answer(ConsumerGroupDescribeResponse(throttle_time_ms=0, groups=groups))
    assert [(group.group_id, group.error_code, len(group.members)) for group in answer.groups] == [
        ("a", 0, 1),
        ("b", TOPIC, 0),
        ("c", GROUP, 0),
    ]
    assert answer.groups[0].authorized_operations == DESCRIBE


def test_operations_are_told_where_they_were_asked_for(rules: Making) -> None:
    for asked in (False, True):
        talk = Talk(rules(OWN).acl)
        talk.ask(DescribeGroupsRequest(groups=["mine"], include_authorized_operations=asked), 5)
        group = DescribeGroupsResponse.Group(
            error_code=0,
            group_id="mine",
            group_state="",
            protocol_type="",
            protocol_data="",
            members=[],
            authorized_operations=READ | DESCRIBE | DELETE if asked else -(2**31),
        )
        (told,) = talk.answer(DescribeGroupsResponse(groups=[group])).groups
        assert told.authorized_operations == (DESCRIBE if asked else -(2**31))


@pytest.mark.parametrize(
    ("rule", "operations"),
    [
        ("{allow: User:alice, to: [Describe, Alter], cluster: true}", DESCRIBE | ALTER),
        ("{allow: User:alice, to: ClusterAction, cluster: true}", 0),
        ("{allow: User:alice, to: All, topics: '*'}", 0),
    ],
)
def test_operations_on_the_cluster_are_told_to_who_may_describe_it(rules: Making, rule: str, operations: int) -> None:
    talk = Talk(rules(f"acls: [{rule}]").acl)
    talk.ask(DescribeClusterRequest(include_cluster_authorized_operations=True), 1)
    answer = talk.answer(
        DescribeClusterResponse(
            throttle_time_ms=0,
            error_code=0,
            cluster_id="c",
            brokers=[],
            cluster_authorized_operations=DESCRIBE | ALTER | 1 << 9,
        )
    )
    assert answer.cluster_authorized_operations == operations


@pytest.mark.parametrize("version", range(3))
def test_configurations_are_changed_by_who_may_by_type(rules: Making, version: int) -> None:
    talk = Talk(rules("acls: [{allow: User:alice, to: AlterConfigs, topics: mine}]").acl)
    resource = AlterConfigsRequest.Resource
    named = [(2, "theirs"), (2, "mine"), (4, "1"), (8, "1"), (16, "m"), (32, "g")]
    resources = [resource(resource_type=kind, resource_name=name, configs=[]) for kind, name in named]
    talk.ask(AlterConfigsRequest(resources=resources, validate_only=False), version)
    assert [(each.resource_type, each.resource_name) for each in talk.to_broker[0].resources] == [(2, "mine")]
    done = AlterConfigsResponse.Resource(error_code=0, error_message=None, resource_type=2, resource_name="mine")
    answer = talk.answer(AlterConfigsResponse(throttle_time_ms=0, responses=[done]))
    assert [(each.resource_type, each.resource_name, each.error_code) for each in answer.responses] == [
        (2, "theirs", TOPIC),
        (2, "mine", 0),
        (4, "1", CLUSTER),
        (8, "1", ErrorCode.INVALID_REQUEST),
        (16, "m", CLUSTER),
        (32, "g", GROUP),
    ]


@pytest.mark.parametrize("version", range(5))
def test_configurations_are_shown_to_who_may_change_them(rules: Making, version: int) -> None:
    talk = Talk(rules("acls: [{allow: User:alice, to: AlterConfigs, cluster: true}]").acl)
    resource = DescribeConfigsRequest.Resource(resource_type=4, resource_name="1", configuration_keys=None)
    assert talk.ask(DescribeConfigsRequest(resources=[resource]), version) is None
    assert len(talk.to_broker) == 1


def case(own: Rules, request: Any, version: int) -> CheckedRequest:
    talk = Talk(own.acl)
    ctx = Context(talk.connection, request.api, version, 1)
    return CheckedRequest(ctx, request, authorizer_of(own.acl.authorizer, ctx), TopicNames())


def test_what_is_kept_for_the_answer_counts_by_its_elements_however_small_the_request_is(rules: Making) -> None:
    topics = [MetadataRequest.Topic(name="t")] * 300
    assert case(rules("acls: []"), MetadataRequest(topics=topics), 9).held >= 300 * ELEMENT


def test_a_case_of_which_nothing_was_taken_leaves_the_request_as_it_came(rules: Making) -> None:
    one = case(rules("acls: []"), DescribeGroupsRequest(groups=["a", "b"]), 5)
    assert (one.decide(), one.has_more) == (None, False)


def test_what_is_left_is_forwarded_and_where_nothing_is_left_it_is_answered(rules: Making) -> None:
    one = case(rules("acls: []"), DescribeGroupsRequest(groups=["a", "b"]), 5)
    (array,) = arrays("groups", 5, one.request)
    one.take_out(array, {0: ApiError(GROUP)})
    assert isinstance(one.decide(), Forward)
    assert one.request.groups == ["b"]
    (array,) = arrays("groups", 5, one.request)
    one.take_out(array, {0: ApiError(GROUP)})
    answer = one.decide()
    assert isinstance(answer, Reply)
    assert [group.group_id for group in answer.message.groups] == ["a", "b"]  # type: ignore[attr-defined]


def test_an_answer_without_a_place_for_a_refusal_is_an_error(rules: Making) -> None:
    one = case(rules("acls: []"), DescribeGroupsRequest(groups=["a", "b"]), 5)
    (array,) = arrays("groups", 5, one.request)
    one.take_out(array, {0: ApiError(GROUP)})
    with pytest.raises(ValueError, match="ListGroupsResponse has no place for a refusal about groups"):
        one.finish(ListGroupsResponse(error_code=0, groups=[]))


def test_a_request_about_many_topics_is_judged_and_answered_in_slices(rules: Callable[..., Rules]) -> None:
    names = [f"{'open' if number % 2 else 'shut'}-{number}" for number in range(3000)]
    own = rules("acls: [{allow: User:alice, to: Describe, topics: open-*}]")
    talk = Talk(own.acl, "User:alice", lambda request, version: metadata_of(dict.fromkeys(names, b"i" * 16), request))
    request = MetadataRequest(
        topics=[MetadataRequest.Topic(name=name) for name in names], allow_auto_topic_creation=False
    )
    answer = talk.ask(request, 9)
    assert {topic.name: topic.error_code for topic in answer.topics} == {
        name: 0 if name.startswith("open") else ErrorCode.TOPIC_AUTHORIZATION_FAILED for name in names
    }
    assert talk.turns > 20
    assert own.worker.counts["refusals{api=Metadata,enforced=yes}"] == 1500
    assert len(talk.denied) == MOST_EVENTS


def test_many_that_are_refused_keep_their_places(rules: Callable[..., Rules]) -> None:
    keys = [f"{'open' if number % 3 else 'shut'}-{number}" for number in range(3000)]
    own = rules("acls: [{allow: User:alice, to: Describe, groups: open-*}]")

    def found(request: Any, version: int) -> FindCoordinatorResponse:
        one = FindCoordinatorResponse.Coordinator
        return FindCoordinatorResponse(
            coordinators=[
                one(key=key, node_id=1, host="h", port=1, error_code=0, error_message=None)
                for key in request.coordinator_keys
            ]
        )

    answer = Talk(own.acl, "User:alice", found).ask(FindCoordinatorRequest(key_type=0, coordinator_keys=keys), 4)
    assert [one.key for one in answer.coordinators] == keys
