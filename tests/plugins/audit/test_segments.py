"""Segments: their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from plugins.audit.segments import SegmentName, beside
from tests.plugins.audit.written import START

NAME = SegmentName.at(START, "3f9c2a71", 0, 1)


def test_a_path_says_all_of_its_name() -> None:
    path = NAME.path
    assert path.as_posix() == "date=2026-03-01/hour=08/20260301T080000Z-3f9c2a71-0-000001.jsonl.zst"
    assert SegmentName.of(path) == NAME
    assert NAME.chain == "3f9c2a71-0"
    assert beside(path, "seal").name == "_20260301T080000Z-3f9c2a71-0-000001.seal"
    for other in ("_20260301T080000Z-a-0-000001.seal", "20260301T080000Z-a-0-000001.jsonl", "notes"):
        assert SegmentName.of(Path(other)) is None


@pytest.mark.parametrize(
    "name",
    [
        "20260301T080000Z-a-0-0000001",
        "20260301T080000Z-a-00-000001",
        "20260301T080000Z-a-0-00001",
        "20260301T080000Z-a-0-00000\u0661",
        "20261399T080000Z-a-0-000001",
        "00000101T080000Z-a-0-000001",
        "20260301T250000Z-a-0-000001",
        f"20260301T080000Z-a-0-{'9' * 5000}",
    ],
)
def test_a_name_is_written_in_one_way_and_says_a_time(name: str) -> None:
    assert SegmentName.of(Path(f"{name}.jsonl.zst")) is None
