"""Follower: which events are the newest of a journal, and which come later."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

import zstandard

from plugins.audit.follower import Follower
from plugins.audit.queue import QueuedEvent
from plugins.audit.search import EventFilter, search
from plugins.audit.segments import segments
from plugins.audit.well_formed import is_event
from tests.plugins.audit.written import START, Wall, chain


def test_the_newest_of_all_chains_come_last(tmp_path: Path) -> None:
    wall = Wall()
    writers = [chain(tmp_path, instance, wall=wall) for instance in ("a", "b")]
    for number in range(10):
        wall.now = START + 1800 * number
        writers[number % 2].rotate(True)
        writers[number % 2].add(QueuedEvent("request", wall.now, None, {"correlation_id": number}))
        writers[number % 2].flush()
    for writer in writers:
        writer.end()
    assert [event.get("correlation_id") for event in Follower(tmp_path, 4, Wall()).newest] == [None, None, 9, None]
    assert Follower(tmp_path, 0, Wall()).newest == []
    whole = list(search(tmp_path, EventFilter()))
    assert Follower(tmp_path, 1000, Wall()).newest == whole
    (first, *_) = segments(tmp_path)
    there = tmp_path / "date=2026-03-01" / "hour=23"
    there.mkdir()
    first.rename(there / first.name)
    assert Follower(tmp_path, 1000, Wall()).newest == whole, "a segment that was moved is read where it is"


def test_of_a_large_segment_only_its_last_frames_are_read(tmp_path: Path) -> None:
    writer = chain(tmp_path)
    for number in range(100):
        writer.add(QueuedEvent("request", START, None, {"correlation_id": number}))
        writer.flush()
    parsed = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal parsed
        parsed += event == "call" and frame.f_code is is_event.__code__

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        follower = Follower(tmp_path, 3, Wall())
    finally:
        sys.setprofile(before)
    assert [event["correlation_id"] for event in follower.newest] == [97, 98, 99]
    assert parsed == 3
    writer.end()
    assert [event["kind"] for event in follower.more()] == ["journal_closed"]


def test_a_follower_sees_what_comes(tmp_path: Path) -> None:
    writer = chain(tmp_path)
    follower = Follower(tmp_path, 0, Wall())
    assert follower.more() == []
    writer.add(QueuedEvent("request", START, None, {}))
    writer.flush()
    assert [event["kind"] for event in follower.more()] == ["request"]
    other = chain(tmp_path, "other")
    other.end()
    writer.end()
    assert [event["kind"] for event in follower.more()] == ["journal_closed", "segment_opened", "journal_closed"]
    assert follower.more() == []


def test_a_follower_sees_what_comes_after_the_clock_was_set_back(tmp_path: Path) -> None:
    wall = Wall()
    writer = chain(tmp_path, wall=wall)
    for hour in range(5):
        wall.now = START + hour * 3600
        writer.rotate(True)
        writer.add(QueuedEvent("request", wall.now, None, {}))
        writer.flush()
    follower = Follower(tmp_path, 0, wall)
    wall.now = START + 3599  # the folder of this hour is there
    writer.rotate(True)
    writer.add(QueuedEvent("request", wall.now, None, {}))
    writer.flush()
    assert [event["kind"] for event in follower.more()] == ["segment_opened", "request"]
    wall.now = START + 3601
    writer.add(QueuedEvent("request", wall.now, None, {}))
    writer.flush()
    assert [event["kind"] for event in follower.more()] == ["request"]
    writer.end()


def test_whatever_comes_between_two_looks_is_followed_once(tmp_path: Path) -> None:
    """A frame may be half written when it is looked at, and a segment may begin or be pruned."""
    writer = chain(tmp_path)
    writer.add(QueuedEvent("request", START, None, {"correlation_id": 1}))
    writer.flush()
    (path,) = segments(tmp_path)
    whole = path.read_bytes()
    stamp = b'"schema":3,"time":"2026-03-01T09:00:00Z","instance":"3f9c2a71","worker":0,"sequence":3'
    frame = zstandard.compress(b'{"kind":"request",' + stamp + b',"correlation_id":2}\n')
    path.write_bytes(whole + frame[:-3])
    follower = Follower(tmp_path, 5, Wall())
    assert [event.get("correlation_id") for event in follower.newest] == [None, 1]
    assert follower.more() == []
    path.write_bytes(whole + frame)
    assert [event["correlation_id"] for event in follower.more()] == [2]
    assert follower.more() == []
    chain(tmp_path, "other").end()
    path.unlink()
    assert [event["kind"] for event in follower.more()] == ["segment_opened", "journal_closed"]
