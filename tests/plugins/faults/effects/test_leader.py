"""False leaders in Metadata."""

from pathlib import Path
from typing import Any

import pytest

from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
)
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from tests.plugins.faults.talking import FaultFile, FaultTalk


def cluster(brokers: int) -> Any:
    def answer(request: Any, version: int) -> Any:
        known = [MetadataResponse.Broker(node_id=it, host="kafka", port=9092 + it) for it in range(brokers)]
        partitions = [
            MetadataResponse.Topic.Partition(
                error_code=0, partition_index=it, leader_id=it % brokers, replica_nodes=[], isr_nodes=[]
            )
            for it in range(3)
        ]
        topics = [MetadataResponse.Topic(error_code=0, name=it, partitions=partitions) for it in ("orders", "payments")]
        return MetadataResponse(brokers=known, topics=topics)

    return answer


def leaders(answer: Any) -> dict[str, list[tuple[int, int]]]:
    return {topic.name: [(it.leader_id, it.error_code) for it in topic.partitions] for topic in answer.topics}


def test_nobody_leads_what_is_meant(tmp_path: Path) -> None:
    text = "faults: [{match: {api: Metadata, topic: orders, partition: 1}, do: {leader: none}}]"
    talk = FaultTalk(FaultFile(tmp_path, text), cluster(3))
    said = leaders(talk.ask(MetadataRequest(topics=None), 9))
    assert said["orders"] == [(0, 0), (-1, ErrorCode.LEADER_NOT_AVAILABLE), (2, 0)]
    assert said["payments"] == [(0, 0), (1, 0), (2, 0)]


def test_another_broker_leads(tmp_path: Path) -> None:
    talk = FaultTalk(FaultFile(tmp_path, "faults: [{match: {api: Metadata}, do: {leader: other}}]"), cluster(3))
    assert leaders(talk.ask(MetadataRequest(topics=None), 9))["orders"] == [(1, 0), (2, 0), (0, 0)]


@pytest.mark.parametrize(("who", "why"), [("other", "the answer names no other broker")])
def test_one_broker_alone_has_no_other(tmp_path: Path, who: str, why: str) -> None:
    faults = FaultFile(tmp_path, f"faults: [{{match: {{api: Metadata}}, do: {{leader: {who}}}}}]")
    FaultTalk(faults, cluster(1)).ask(MetadataRequest(topics=None), 9)
    assert faults.told[0].endswith(why)


@pytest.mark.parametrize(("who", "leader"), [("none", -1), ("other", 2)])
def test_topics_are_described_with_the_same_leader(tmp_path: Path, who: str, leader: int) -> None:
    partition = DescribeTopicPartitionsResponse.Topic.Partition(
        error_code=0, partition_index=0, leader_id=1, replica_nodes=[], isr_nodes=[], offline_replicas=[]
    )
    topic = DescribeTopicPartitionsResponse.Topic(
        error_code=0, name="orders", topic_id=bytes(16), is_internal=False, partitions=[partition]
    )
    faults = FaultFile(tmp_path, f"faults: [{{match: {{api: DescribeTopicPartitions}}, do: {{leader: {who}}}}}]")
    talk = FaultTalk(
        faults, lambda request, version: DescribeTopicPartitionsResponse(throttle_time_ms=0, topics=[topic])
    )
    for node_id in (1, 2):
        talk.connection.topology.learn(node_id, f"kafka-{node_id}", 9092)
    asked = DescribeTopicPartitionsRequest(topics=[DescribeTopicPartitionsRequest.Topic(name="orders")])
    assert talk.ask(asked, 0).topics[0].partitions[0].leader_id == leader
