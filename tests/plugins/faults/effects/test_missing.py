"""Responses that leave something out."""

from pathlib import Path
from typing import Any

import pytest

from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from tests.plugins.faults.talking import FaultFile, FaultTalk

Partition = MetadataResponse.Topic.Partition


def cluster(request: Any, version: int) -> Any:
    """Two brokers, two topics; broker 2 leads partition 1."""
    if isinstance(request, DescribeClusterRequest):
        named = [DescribeClusterResponse.Broker(broker_id=it, host="kafka", port=9092) for it in (1, 2)]
        return DescribeClusterResponse(throttle_time_ms=0, error_code=0, cluster_id="c", controller_id=2, brokers=named)
    brokers = [MetadataResponse.Broker(node_id=it, host="kafka", port=9092) for it in (1, 2)]
    topics = [
        MetadataResponse.Topic(
            error_code=0,
            name=name,
            partitions=[
                Partition(error_code=0, partition_index=it, leader_id=it + 1, replica_nodes=[1, 2], isr_nodes=[1, 2])
                for it in range(2)
            ],
        )
        for name in ("orders", "payments")
    ]
    return MetadataResponse(brokers=brokers, controller_id=2, topics=topics)


def said(folder: Path, match: str, do: str, request: Any = None, version: int = 9) -> Any:
    faults = FaultFile(folder, f"faults: [{{match: {match}, do: {do}}}]")
    return FaultTalk(faults, cluster).ask(request or MetadataRequest(topics=None), version)


def test_among_all_topics_it_is_not_there(tmp_path: Path) -> None:
    answer = said(tmp_path, "{topic: orders}", "{missing: topic}")
    assert [topic.name for topic in answer.topics] == ["payments"]


def test_asked_for_by_name_it_is_unknown(tmp_path: Path) -> None:
    asked = [MetadataRequest.Topic(name=name) for name in ("orders", "payments")]
    answer = said(tmp_path, "{topic: orders}", "{missing: topic}", MetadataRequest(topics=asked))
    told = [(topic.name, topic.error_code, len(topic.partitions)) for topic in answer.topics]
    assert told == [("orders", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, 0), ("payments", 0, 2)]


def test_a_partition_is_not_there(tmp_path: Path) -> None:
    answer = said(tmp_path, "{topic: orders, partition: 1}", "{missing: partition}")
    assert [[it.partition_index for it in topic.partitions] for topic in answer.topics] == [[0], [0, 1]]


def test_a_broker_is_not_alive_and_leads_nothing(tmp_path: Path) -> None:
    answer = said(tmp_path, "{api: Metadata}", "{missing: {broker: 2}}")
    assert ([it.node_id for it in answer.brokers], answer.controller_id) == ([1], 1)
    first, second = answer.topics[0].partitions
    assert (first.leader_id, first.error_code, first.isr_nodes, first.offline_replicas) == (1, 0, [1], [2])
    assert (second.leader_id, second.error_code) == (-1, ErrorCode.LEADER_NOT_AVAILABLE)


def test_the_cluster_is_described_without_it(tmp_path: Path) -> None:
    request = DescribeClusterRequest(include_cluster_authorized_operations=False)
    answer = said(tmp_path, "{api: DescribeCluster}", "{missing: {broker: 2}}", request, 0)
    assert ([it.broker_id for it in answer.brokers], answer.controller_id) == ([1], 1)


@pytest.mark.parametrize(
    ("match", "do", "why"),
    [
        ("{topic: other}", "{missing: topic}", "nothing in the answer is meant"),
        ("{api: Metadata}", "{missing: {broker: 7}}", "the answer does not name broker 7"),
    ],
)
def test_what_is_not_there_cannot_be_missing(tmp_path: Path, match: str, do: str, why: str) -> None:
    faults = FaultFile(tmp_path, f"faults: [{{match: {match}, do: {do}}}]")
    FaultTalk(faults, cluster).ask(MetadataRequest(topics=None), 9)
    assert faults.told[0].endswith(why)


def test_the_oldest_version_asks_for_all_by_an_empty_list(tmp_path: Path) -> None:
    answer = said(tmp_path, "{topic: orders}", "{missing: topic}", MetadataRequest(topics=[]), 0)
    assert [topic.name for topic in answer.topics] == ["payments"]
