"""InitProducerId, and adding partitions to a transaction: all or none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, Topic
from proxy.protocol.messages.init_producer_id import InitProducerIdRequest
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.schema import Request, Response
from tests.plugins.acl.talk import Rules, Talk, metadata_of, topic_id

Making = Callable[..., Rules]
KNOWN = {name: topic_id(name) for name in ("mine", "ours", "theirs")}
NO_ID, NO_CLUSTER = (
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
)
REFUSED, UNTRIED, MISSING = (
    ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ErrorCode.OPERATION_NOT_ATTEMPTED,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
)


@pytest.mark.parametrize("version", range(7))
@pytest.mark.parametrize(
    ("rule", "identity", "error"),
    [
        ("{allow: User:alice, to: Write, transactional_ids: mine}", "mine", None),
        ("{allow: User:alice, to: Write, transactional_ids: mine}", "theirs", NO_ID),
        ("{allow: User:alice, to: Describe, transactional_ids: mine}", "mine", NO_ID),
        ("{allow: User:alice, to: IdempotentWrite, cluster: true}", None, None),
        ("{allow: User:alice, to: Write, topics: any}", None, None),
        ("{allow: User:alice, to: Read, topics: any}", None, NO_CLUSTER),
    ],
)
def test_who_may_become_a_producer(
    rules: Making, version: int, rule: str, identity: str | None, error: int | None
) -> None:
    talk = Talk(rules(f"acls: [{rule}]").acl)
    answer = talk.ask(InitProducerIdRequest(transactional_id=identity, transaction_timeout_ms=1), version)
    assert (answer and answer.error_code, len(talk.to_broker)) == (error, error is None)


@pytest.mark.parametrize("may", [False, True])
def test_a_transaction_in_two_phases_needs_a_right_of_its_own(rules: Making, may: bool) -> None:
    to = "[Write, TwoPhaseCommit]" if may else "Write"
    talk = Talk(rules(f"acls: [{{allow: User:alice, to: {to}, transactional_ids: mine}}]").acl)
    request = InitProducerIdRequest(transactional_id="mine", transaction_timeout_ms=1, enable_2pc=True)
    answer = talk.ask(request, 6)
    assert (answer and answer.error_code) == (None if may else NO_ID)


def add(*topics: str, identity: str = "mine") -> AddPartitionsToTxnRequest:
    return AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=identity,
        v3_and_below_producer_id=1,
        v3_and_below_producer_epoch=0,
        v3_and_below_topics=[Topic(name=name, partitions=[0]) for name in topics],
    )


ADDS = "acls: [{allow: User:alice, to: Write, topics: [mine, ours, gone], transactional_ids: mine}]"


def partitioned(request: Request, version: int) -> Response | None:
    """A broker on which each topic has one partition."""
    if not isinstance(request, MetadataRequest):
        return None
    answer = metadata_of(KNOWN, request)
    first = MetadataResponse.Topic.Partition(
        error_code=0, partition_index=0, leader_id=1, replica_nodes=[1], isr_nodes=[1]
    )
    for topic in answer.topics:
        topic.partitions = [] if topic.error_code else [first]
    return answer


@pytest.mark.parametrize("version", range(4))
def test_a_partition_that_is_missing_is_told_beside_one_that_is_not_tried(rules: Making, version: int) -> None:
    request = add("mine", "theirs", "mine")
    request.v3_and_below_topics[0].partitions = [0, 9]
    answer = Talk(rules(ADDS).acl, "User:alice", partitioned).ask(request, version)
    told = {
        topic.name: {each.partition_index: each.partition_error_code for each in topic.results_by_partition}
        for topic in answer.results_by_topic_v3_and_below
    }
    assert told == {"mine": {0: UNTRIED, 9: MISSING}, "theirs": {0: REFUSED}}
    assert len(answer.results_by_topic_v3_and_below) == 2


@pytest.mark.parametrize("version", range(4))
@pytest.mark.parametrize(
    ("topics", "errors"),
    [
        (["mine", "ours"], None),
        (["mine", "theirs", "ours"], [UNTRIED, REFUSED, UNTRIED]),
        (["theirs", "nobodys"], [REFUSED, REFUSED]),
        (["mine", "theirs", "gone"], [UNTRIED, REFUSED, MISSING]),
    ],
)
def test_partitions_are_added_all_or_none(
    rules: Making, version: int, topics: list[str], errors: list[int] | None
) -> None:
    talk = Talk(rules(ADDS).acl, "User:alice", partitioned)
    answer = talk.ask(add(*topics), version)
    reached = [each for each in talk.to_broker if isinstance(each, AddPartitionsToTxnRequest)]
    assert reached == ([add(*topics)] if errors is None else [])
    if errors is not None:
        told = {
            topic.name: partition.partition_error_code
            for topic in answer.results_by_topic_v3_and_below
            for partition in topic.results_by_partition
        }
        assert told == dict(zip(topics, errors, strict=True))


@pytest.mark.parametrize("version", range(4))
def test_the_transaction_itself_must_be_the_clients(rules: Making, version: int) -> None:
    answer = Talk(rules(ADDS).acl).ask(add("mine", identity="theirs"), version)
    ((partition,),) = [topic.results_by_partition for topic in answer.results_by_topic_v3_and_below]
    assert partition.partition_error_code == NO_ID


@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("may", [False, True])
def test_what_brokers_say_among_themselves_needs_their_right(rules: Making, version: int, may: bool) -> None:
    talk = Talk(rules("acls: [{allow: User:alice, to: ClusterAction, cluster: true}]" if may else ADDS).acl)
    answer = talk.ask(AddPartitionsToTxnRequest(transactions=[]), version)
    assert (answer and answer.error_code) == (None if may else NO_CLUSTER)
