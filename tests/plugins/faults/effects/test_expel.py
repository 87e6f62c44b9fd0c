"""Members leave their group without knowing it."""

from pathlib import Path
from typing import Any

import pytest

from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from proxy.protocol.messages.leave_group import LeaveGroupRequest
from proxy.protocol.messages.offset_commit import OffsetCommitRequest
from proxy.protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest
from proxy.protocol.refuse import refuse
from proxy.protocol.schema import Request
from tests.plugins.faults.members import heartbeat, of_epoch
from tests.plugins.faults.talking import FaultFile, FaultTalk, serving

FAULT = "faults: [{do: expel}]"


def test_a_classic_member_leaves_before_its_heartbeat_arrives(tmp_path: Path) -> None:
    talk = FaultTalk(FaultFile(tmp_path, FAULT), serving)
    talk.ask(heartbeat(), 4)
    left, asked = talk.to_broker
    assert isinstance(left, LeaveGroupRequest)
    assert (left.group_id, [it.member_id for it in left.members]) == ("g", ["m"])
    assert asked == heartbeat()


@pytest.mark.parametrize("protocol", ["consumer", "share", "streams"])
def test_members_of_newer_protocols_leave_by_their_epoch(tmp_path: Path, protocol: str) -> None:
    talk = FaultTalk(FaultFile(tmp_path, FAULT), serving)
    talk.ask(of_epoch(5)[protocol], 0)
    left, asked = talk.to_broker
    assert type(left) is type(asked)
    assert (left.member_id, left.member_epoch, asked.member_epoch) == ("m", -1, 5)


class Of:
    """A broker whose group has this protocol: the one in which members leave by a message of this class."""

    def __init__(self, leaving: type[Request]) -> None:
        self.leaving = leaving

    def __call__(self, request: Request, version: int) -> Any:
        is_known = isinstance(request, self.leaving | OffsetCommitRequest)
        return refuse(request.api, version, request, ErrorCode.NONE if is_known else ErrorCode.UNKNOWN_MEMBER_ID)


@pytest.mark.parametrize("leaving", [LeaveGroupRequest, ConsumerGroupHeartbeatRequest, StreamsGroupHeartbeatRequest])
def test_a_member_that_commits_leaves_in_the_protocol_of_its_group(tmp_path: Path, leaving: type[Request]) -> None:
    talk = FaultTalk(FaultFile(tmp_path, FAULT), Of(leaving))
    talk.connection.broker_versions = {13: (0, 5), 68: (0, 1), 88: (0, 0)}
    commit = OffsetCommitRequest(group_id="g", generation_id_or_member_epoch=5, member_id="m", topics=[])
    talk.ask(commit, 9)
    *_, left, asked = talk.to_broker
    assert isinstance(left, leaving)
    assert asked == commit


def test_a_broker_is_not_asked_in_a_protocol_that_it_does_not_know(tmp_path: Path) -> None:
    talk = FaultTalk(FaultFile(tmp_path, FAULT), Of(ConsumerGroupHeartbeatRequest))
    commit = OffsetCommitRequest(group_id="g", generation_id_or_member_epoch=5, member_id="m", topics=[])
    talk.ask(commit, 8)
    assert [type(it) for it in talk.to_broker] == [LeaveGroupRequest, OffsetCommitRequest]


def test_a_member_that_leaves_anyway_is_not_expelled(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, FAULT)
    FaultTalk(faults, serving).ask(of_epoch(-1)["share"], 0)
    assert faults.told[0].endswith("the member joins or leaves anyway")
