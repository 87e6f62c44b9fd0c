"""Requests that are acknowledged, and not executed."""

from pathlib import Path

import pytest

from proxy.protocol.messages.leave_group import LeaveGroupRequest
from proxy.protocol.messages.offset_delete import OffsetDeleteRequest
from tests.plugins.faults.members import end_txn, heartbeat, of_epoch
from tests.plugins.faults.talking import FaultFile, FaultTalk, errors, produce, serving


def talking(folder: Path, match: str = "{}") -> tuple[FaultFile, FaultTalk]:
    faults = FaultFile(folder, f"faults: [{{match: {match}, do: lose}}]")
    return faults, FaultTalk(faults, serving)


def test_a_write_is_acknowledged_and_never_done(tmp_path: Path) -> None:
    _, talk = talking(tmp_path, "{topic: orders}")
    assert errors(talk.ask(produce("orders", "payments"), 9)) == {("orders", 0): "NONE", ("payments", 0): "NONE"}
    (reached,) = talk.to_broker
    assert [topic.name for topic in reached.topic_data] == ["payments"]


def test_a_heartbeat_never_arrives(tmp_path: Path) -> None:
    _, talk = talking(tmp_path)
    assert talk.ask(heartbeat(), 4).error_code == 0
    assert not talk.to_broker


@pytest.mark.parametrize("protocol", ["consumer", "share", "streams"])
def test_a_member_goes_on_as_it_is(tmp_path: Path, protocol: str) -> None:
    _, talk = talking(tmp_path)
    answer = talk.ask(of_epoch(5)[protocol], 0)
    assert (answer.error_code, answer.member_id, answer.member_epoch) == (0, "m", 5)
    assert answer.heartbeat_interval_ms == 5000
    assert getattr(answer, "endpoint_information_epoch", 3) == 3
    assert not talk.to_broker


@pytest.mark.parametrize("epoch", [0, -1])
def test_a_member_that_joins_or_leaves_cannot_be_answered(tmp_path: Path, epoch: int) -> None:
    faults, talk = talking(tmp_path)
    talk.ask(of_epoch(epoch)["consumer"], 0)
    assert "joins or leaves" in faults.told[0]
    assert talk.to_broker


def test_a_transaction_never_ends_and_its_producer_stays_who_it_is(tmp_path: Path) -> None:
    _, talk = talking(tmp_path)
    answer = talk.ask(end_txn(), 5)
    assert (answer.error_code, answer.producer_id, answer.producer_epoch) == (0, 7, 1)
    assert not talk.to_broker


def committed_by(*topics: str) -> OffsetDeleteRequest:
    partition = OffsetDeleteRequest.Topic.Partition
    each = [OffsetDeleteRequest.Topic(name=name, partitions=[partition(partition_index=0)]) for name in topics]
    return OffsetDeleteRequest(group_id="g", topics=each)


def test_what_the_request_is_about_is_in_the_answer_one_by_one(tmp_path: Path) -> None:
    _, talk = talking(tmp_path)
    answer = talk.ask(committed_by("orders", "payments"), 0)
    told = [(topic.name, it.partition_index, it.error_code) for topic in answer.topics for it in topic.partitions]
    assert (answer.error_code, told) == (0, [("orders", 0, 0), ("payments", 0, 0)])
    member = LeaveGroupRequest.Member(member_id="m", group_instance_id=None)
    left = talk.ask(LeaveGroupRequest(group_id="g", member_id="m", members=[member]), 4)
    assert (left.error_code, [(it.member_id, it.error_code) for it in left.members]) == (0, [("m", 0)])
    for version in (1, 4):
        assert talk.ask(LeaveGroupRequest(group_id="g", member_id="m", members=[]), version).error_code == 0
    assert not talk.to_broker


def test_a_part_of_it_is_lost_and_the_rest_arrives(tmp_path: Path) -> None:
    _, talk = talking(tmp_path, "{topic: orders}")
    answer = talk.ask(committed_by("orders", "payments"), 0)
    assert ("orders", 0) in [(topic.name, topic.partitions[0].error_code) for topic in answer.topics]
    (reached,) = talk.to_broker
    assert [topic.name for topic in reached.topics] == ["payments"]
