"""Metadata that stays as in the first response."""

from pathlib import Path
from typing import Any

import pytest

from plugins.faults.effects import stale
from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from tests.plugins.faults.talking import FaultFile, FaultTalk

STALE = "faults: [{match: {api: Metadata, topic: orders}, do: stale}]"


class Changing:
    """A cluster whose brokers and leaders change."""

    def __init__(self) -> None:
        self.brokers, self.leader, self.error = [1, 2], 1, 0

    def __call__(self, request: Any, version: int) -> Any:
        brokers = [MetadataResponse.Broker(node_id=it, host="kafka", port=9092) for it in self.brokers]
        partition = MetadataResponse.Topic.Partition(
            error_code=0, partition_index=0, leader_id=self.leader, replica_nodes=[], isr_nodes=[]
        )
        topics = [
            MetadataResponse.Topic(error_code=self.error, name=name, partitions=[] if self.error else [partition])
            for name in ("orders", "payments")
        ]
        return MetadataResponse(brokers=brokers, topics=topics)


def told(answer: Any) -> Any:
    leaders = {topic.name: [it.leader_id for it in topic.partitions] for topic in answer.topics}
    return [broker.node_id for broker in answer.brokers], leaders


def test_what_changed_is_not_told(tmp_path: Path) -> None:
    cluster, faults = Changing(), FaultFile(tmp_path, STALE)
    talk = FaultTalk(faults, cluster)
    asked = MetadataRequest(topics=None)
    assert told(talk.ask(asked, 9)) == ([1, 2], {"orders": [1], "payments": [1]})
    cluster.brokers, cluster.leader = [2], 2
    assert told(talk.ask(asked, 9)) == ([1, 2], {"orders": [1], "payments": [2]})


def test_a_topic_that_was_made_since_is_unknown(tmp_path: Path) -> None:
    cluster, faults = Changing(), FaultFile(tmp_path, STALE)
    talk = FaultTalk(faults, cluster)
    cluster.error = 3
    talk.ask(MetadataRequest(topics=None), 9)
    cluster.error = 0
    answer = talk.ask(MetadataRequest(topics=None), 9)
    assert [topic.error_code for topic in answer.topics] == [3, 0]


def test_a_topic_that_a_client_may_not_see_is_not_told_as_another_client_saw_it(tmp_path: Path) -> None:
    cluster, faults = Changing(), FaultFile(tmp_path, STALE)
    talk = FaultTalk(faults, cluster)
    talk.ask(MetadataRequest(topics=None), 9)
    cluster.error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert [topic.error_code for topic in talk.ask(MetadataRequest(topics=None), 9).topics] == [cluster.error] * 2
    cluster.error, cluster.leader = 0, 2
    assert told(talk.ask(MetadataRequest(topics=None), 9)) == ([1, 2], {"orders": [1], "payments": [2]})


def test_long_names_take_the_room_of_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stale, "MOST", 20)
    names, leader = [f"{n}".ljust(2_500, "x") for n in range(3)], 1

    def answers(request: Any, version: int) -> Any:
        partition = MetadataResponse.Topic.Partition(
            error_code=0, partition_index=0, leader_id=leader, replica_nodes=[], isr_nodes=[]
        )
        topics = [MetadataResponse.Topic(error_code=0, name=name, partitions=[partition]) for name in names]
        return MetadataResponse(brokers=[], topics=topics)

    talk = FaultTalk(FaultFile(tmp_path, "faults: [{match: {api: Metadata}, do: stale}]"), answers)
    talk.ask(MetadataRequest(topics=None), 9)
    leader = 2
    assert list(told(talk.ask(MetadataRequest(topics=None), 9))[1].values()) == [[1], [2], [2]]


def test_what_did_not_change_is_no_firing(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, STALE)
    talk = FaultTalk(faults, Changing())
    for _ in range(2):
        talk.ask(MetadataRequest(topics=None), 9)
    assert all(line.endswith("nothing that it says was otherwise before") for line in faults.told)


def test_another_fault_of_the_same_name_remembers_nothing(tmp_path: Path) -> None:
    cluster, faults = Changing(), FaultFile(tmp_path, STALE)
    talk = FaultTalk(faults, cluster)
    talk.ask(MetadataRequest(topics=None), 9)
    faults.become(STALE.replace("orders", "payments"))
    cluster.leader = 2
    assert told(talk.ask(MetadataRequest(topics=None), 9))[1] == {"orders": [2], "payments": [2]}


def test_a_fault_that_was_gone_begins_anew(tmp_path: Path) -> None:
    cluster, faults = Changing(), FaultFile(tmp_path, STALE)
    talk = FaultTalk(faults, cluster)
    talk.ask(MetadataRequest(topics=None), 9)
    faults.become("faults: []")
    talk.ask(MetadataRequest(topics=None), 9)
    faults.become(STALE)
    cluster.leader = 2
    assert told(talk.ask(MetadataRequest(topics=None), 9))[1] == {"orders": [2], "payments": [2]}
