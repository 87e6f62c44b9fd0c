"""Wrong leader hints."""

from pathlib import Path
from typing import Any

import pytest

from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from tests.plugins.acl.talk import topic_id
from tests.plugins.faults.talking import FaultFile, FaultTalk, produce, serving


def leading(request: Any, version: int) -> Any:
    """Broker 1 leads everything in epoch 7; broker 2 is there too."""
    if not isinstance(request, MetadataRequest):
        return serving(request, version)
    partitions = [
        MetadataResponse.Topic.Partition(
            error_code=0, partition_index=it, leader_id=1, leader_epoch=7, replica_nodes=[], isr_nodes=[]
        )
        for it in range(2)
    ]
    topics = [
        MetadataResponse.Topic(
            error_code=0, name=it.name or "orders", topic_id=topic_id("orders"), partitions=partitions
        )
        for it in request.topics or ()
    ]
    brokers = [MetadataResponse.Broker(node_id=it, host=f"kafka-{it}", port=9092) for it in (1, 2)]
    return MetadataResponse(brokers=brokers, topics=topics)


def talking(folder: Path, who: str, match: str = "{api: Produce}", brokers: int = 2) -> tuple[FaultFile, FaultTalk]:
    faults = FaultFile(folder, f"faults: [{{match: {match}, do: {{hint: {who}}}}}]")
    talk = FaultTalk(faults, leading)
    for node_id in range(1, brokers + 1):
        talk.connection.topology.learn(node_id, f"kafka-{node_id}", 9092)
    return faults, talk


@pytest.mark.parametrize(
    ("who", "leader", "endpoints"),
    [("other", (2, 8), [(2, "kafka-2")]), ("older", (2, 6), [(2, "kafka-2")]), ("unknown", (3, 8), [])],
)
def test_a_leader_is_named_that_is_none(tmp_path: Path, who: str, leader: Any, endpoints: Any) -> None:
    _, talk = talking(tmp_path, who)
    answer = talk.ask(produce("orders"), 10)
    (partition,) = answer.responses[0].partition_responses
    assert partition.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert (partition.current_leader.leader_id, partition.current_leader.leader_epoch) == leader
    assert [(it.node_id, it.host) for it in answer.node_endpoints] == endpoints
    assert [type(request) for request in talk.to_broker] == [MetadataRequest]  # nothing was appended


def test_what_is_not_meant_is_appended(tmp_path: Path) -> None:
    _, talk = talking(tmp_path, "other", "{api: Produce, topic: orders, partition: 1}")
    answer = talk.ask(produce("orders", partitions=2), 10)
    told = {it.index: (it.error_code, it.current_leader.leader_id) for it in answer.responses[0].partition_responses}
    assert told == {0: (0, -1), 1: (ErrorCode.NOT_LEADER_OR_FOLLOWER, 2)}


def test_topics_may_be_named_by_their_ids(tmp_path: Path) -> None:
    _, talk = talking(tmp_path, "other")
    request = produce("orders")
    request.topic_data[0].topic_id = topic_id("orders")
    (partition,) = talk.ask(request, 13).responses[0].partition_responses
    assert (partition.current_leader.leader_id, partition.current_leader.leader_epoch) == (2, 8)


@pytest.mark.parametrize(
    ("version", "brokers", "why"), [(9, 2, "Produce v9 answers have no hints"), (10, 1, "no other broker is known")]
)
def test_where_nobody_can_be_named_nothing_fires(tmp_path: Path, version: int, brokers: int, why: str) -> None:
    faults, talk = talking(tmp_path, "other", brokers=brokers)
    talk.ask(produce("orders"), version)
    assert faults.told[0].endswith(why)


def test_of_two_hints_each_is_about_its_own_partition(tmp_path: Path) -> None:
    text = """
        faults:
          - {match: {api: Produce, topic: orders, partition: 0}, do: {hint: unknown}}
          - {match: {api: Produce, topic: orders, partition: 1}, do: {hint: older}}
    """
    talk = FaultTalk(FaultFile(tmp_path, text), leading)
    for node_id in (1, 2):
        talk.connection.topology.learn(node_id, f"kafka-{node_id}", 9092)
    request = produce("orders", partitions=3)
    answer = talk.ask(request, 10)
    told = {
        it.index: (it.current_leader.leader_id, it.current_leader.leader_epoch)
        for it in answer.responses[0].partition_responses
    }
    assert told == {0: (3, 8), 1: (2, 6), 2: (-1, -1)}
    assert [it.node_id for it in answer.node_endpoints] == [2]
