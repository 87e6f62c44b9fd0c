"""Clients must wait for a throttle time."""

from pathlib import Path

import pytest

from plugins.faults.effects.throttle import MOST
from proxy.protocol.messages.heartbeat import HeartbeatRequest
from proxy.text.problems import BadFileError
from tests.plugins.faults.talking import FaultFile, FaultTalk, produce, serving


def test_the_client_is_told_that_it_was_throttled(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, "faults: [{match: {api: [Produce, Heartbeat]}, do: {throttle: 5s}}]")
    talk = FaultTalk(faults, serving)
    assert talk.ask(produce("orders"), 9).throttle_time_ms == 5000
    talk.ask(HeartbeatRequest(group_id="g", generation_id=1, member_id="m"), 0)
    assert faults.told[-1].endswith("Heartbeat v0 answers have no throttle_time_ms")


def test_it_is_told_no_longer_time_than_the_field_can_say(tmp_path: Path) -> None:
    longest = f"faults: [{{match: {{api: Produce}}, do: {{throttle: {MOST}s}}}}]"
    assert FaultTalk(FaultFile(tmp_path, longest), serving).ask(produce("orders"), 9).throttle_time_ms == MOST * 1000
    with pytest.raises(BadFileError, match=f'2,160,000 s is too long; the most is "{MOST}s"'):
        FaultFile(tmp_path, "faults: [{match: {api: Produce}, do: {throttle: 25d}}]")
