"""Members must rejoin, each by the error of its protocol."""

from pathlib import Path

import pytest

from proxy.protocol.errors import ErrorCode
from tests.plugins.faults.members import heartbeat, of_epoch
from tests.plugins.faults.talking import FaultFile, FaultTalk, produce, serving

FAULT = "faults: [{do: rebalance}]"


def test_classic_members_are_told_that_there_is_one(tmp_path: Path) -> None:
    talk = FaultTalk(FaultFile(tmp_path, FAULT), serving)
    assert talk.ask(heartbeat(), 4).error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert not talk.to_broker


@pytest.mark.parametrize("protocol", ["consumer", "share", "streams"])
def test_members_of_newer_protocols_are_fenced(tmp_path: Path, protocol: str) -> None:
    talk = FaultTalk(FaultFile(tmp_path, FAULT), serving)
    assert talk.ask(of_epoch(5)[protocol], 0).error_code == ErrorCode.FENCED_MEMBER_EPOCH


def test_other_requests_are_not_read(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, FAULT)
    assert produce("orders").api not in faults.plugin.reads
