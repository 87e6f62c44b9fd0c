"""Clients are told to wait."""

from pathlib import Path

from proxy.protocol.messages.heartbeat import HeartbeatRequest
from tests.plugins.faults.talking import FaultFile, FaultTalk, produce, serving


def test_the_client_is_told_that_it_was_throttled(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, "faults: [{match: {api: [Produce, Heartbeat]}, do: {throttle: 5s}}]")
    talk = FaultTalk(faults, serving)
    assert talk.ask(produce("orders"), 9).throttle_time_ms == 5000
    talk.ask(HeartbeatRequest(group_id="g", generation_id=1, member_id="m"), 0)
    assert faults.told[-1].endswith("Heartbeat v0 answers have no throttle_time_ms")
