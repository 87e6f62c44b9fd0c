"""Rotation: a segment ends when it is large, old, of another hour, or says too short a window of summaries."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from plugins.audit.open_segment import OpenSegment
from plugins.audit.rotation import Rotation, WrittenSegment
from plugins.audit.segments import SegmentName
from tests.plugins.audit.written import START

ROTATION = Rotation(size=1_000, age=900.0)
BEGUN = START + 3000  # ten minutes before the hour is over


@pytest.fixture
def segment(tmp_path: Path) -> Iterator[WrittenSegment]:
    """One that has its first event."""
    file = OpenSegment(tmp_path, SegmentName.at(BEGUN, "a", 0, 1))
    file.write([b"first"])
    yield WrittenSegment(file, 1, BEGUN, 10.0)
    file.close()


@pytest.mark.parametrize(
    ("seconds", "events", "more", "is_over"),
    [
        (599, 1, True, False),
        (600, 1, True, True),
        (600, 1, False, False),
        (600, 2, False, True),
        (1200, 1, False, False),
        (-3000, 2, False, False),
        (-3001, 2, False, True),
    ],
)
def test_one_in_which_nothing_happened_stays_open_until_an_event_of_another_hour_comes(
    segment: WrittenSegment, seconds: int, events: int, more: bool, is_over: bool
) -> None:
    if events > 1:
        segment.file.write([b"second"])
    assert segment.is_over(ROTATION, BEGUN + seconds, 10.0, more=more) is is_over


def test_one_that_is_old_or_large_ends(segment: WrittenSegment) -> None:
    segment.file.write([b"second"])
    assert not segment.is_over(Rotation(age=300.0), BEGUN + 299, 10.0, more=False)
    assert segment.is_over(Rotation(age=300.0), BEGUN + 300, 10.0, more=False)
    assert segment.is_over(Rotation(size=segment.file.size), BEGUN, 10.0, more=False)


def test_one_ends_when_summaries_count_for_longer_than_it_says(segment: WrittenSegment) -> None:
    assert not segment.is_over(ROTATION, BEGUN, 10.0, more=False)
    assert segment.is_over(ROTATION, BEGUN, 11.0, more=False)
