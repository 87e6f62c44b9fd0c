"""Members leave their group without knowing it."""

from pathlib import Path

import pytest

from proxy.protocol.messages.leave_group import LeaveGroupRequest
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


def test_a_member_that_leaves_anyway_is_not_expelled(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, FAULT)
    FaultTalk(faults, serving).ask(of_epoch(-1)["share"], 0)
    assert faults.told[0].endswith("the member joins or leaves anyway")
