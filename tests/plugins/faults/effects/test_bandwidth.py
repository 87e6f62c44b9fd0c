"""Frames at a limited speed."""

from pathlib import Path

import pytest

from tests.plugins.faults.talking import FaultFile, FaultTalk, errors, produce, serving


@pytest.mark.parametrize("side", ["before_broker", "after_broker"])
def test_a_frame_takes_as_long_as_its_bytes_need(tmp_path: Path, side: str) -> None:
    text = f"faults: [{{match: {{api: Produce}}, do: {{bandwidth: {{rate: 10KiB, side: {side}}}}}}}]"
    talk = FaultTalk(FaultFile(tmp_path, text), serving)
    assert errors(talk.ask(produce("orders", partitions=100), 8))["orders", 99] == "NONE"
    size = {"before_broker": 100 * 8, "after_broker": 100 * 36}[side]  # about: of each partition
    assert sum(talk.slept) == pytest.approx(size / 10_240, rel=0.15)
    assert len(talk.slept) > 10
