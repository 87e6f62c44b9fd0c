"""Complaints: the first is logged at once, the others are counted; lines and memory are bounded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import structlog
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from proxy.logs.cut import SHORT
from proxy.net.complaints import (
    AT_ONCE,
    BURST,
    EVERY,
    EXAMPLES,
    KINDS,
    NEXT,
    PACE,
    SUM_UP,
    Complaints,
)

log = structlog.get_logger()


@pytest.fixture
def lines() -> Iterator[list[Any]]:
    with capture_logs() as captured:
        yield captured


def tell(complaints: Complaints, about: object = "bob", example: object = None, event: str = "denied") -> None:
    complaints.tell(log.info, event, about, example, name=example)


async def test_the_first_is_told_at_once_and_the_next_after_a_while_with_their_number(
    autojump_clock: trio.testing.MockClock, lines: list[Any]
) -> None:
    complaints = Complaints()
    for _ in range(4):
        tell(complaints)
    assert lines == [{"event": "denied", "log_level": "info", "name": None}]
    await trio.sleep(EVERY)
    tell(complaints)
    assert lines[1]["left_out"] == 3
    await trio.sleep(EVERY)
    tell(complaints)
    assert "left_out" not in lines[2]
    assert complaints.left_out == 3


async def test_each_thing_is_complained_about_by_itself(
    autojump_clock: trio.testing.MockClock, lines: list[Any]
) -> None:
    complaints = Complaints()
    for about, event in (("bob", "denied"), ("eve", "denied"), ("bob", "no TLS"), ("bob", "denied")):
        tell(complaints, about, event=event)
    assert len(lines) == 3


async def test_of_a_scan_some_names_are_told_at_once_and_further_ones_slowly(
    autojump_clock: trio.testing.MockClock, lines: list[Any]
) -> None:
    complaints = Complaints()
    for number in range(1000):
        tell(complaints, example=f"t{number}")
    assert [line["name"] for line in lines] == [f"t{number}" for number in range(AT_ONCE)]
    await trio.sleep(NEXT)
    tell(complaints, example="another")
    assert lines[-1]["name"] == "another"
    assert lines[-1]["left_out"] == 1000 - AT_ONCE
    assert lines[-1]["left_out_examples"] == f"{EXAMPLES} or more"


async def test_one_that_asks_for_thirty_things_again_and_again_has_told_all_of_them_in_the_end(
    autojump_clock: trio.testing.MockClock, lines: list[Any]
) -> None:
    complaints = Complaints()
    for _ in range(300):
        for number in range(30):
            tell(complaints, example=f"t{number}")
        await trio.sleep(0.5)
    assert {line["name"] for line in lines} == {f"t{number}" for number in range(30)}
    assert len(lines) <= AT_ONCE + 150 / NEXT


async def test_many_kinds_of_one_event_are_not_told_all_and_take_nothing_from_another_event(
    autojump_clock: trio.testing.MockClock, lines: list[Any]
) -> None:
    complaints = Complaints()
    for number in range(1000):
        tell(complaints, about=f"10.0.0.{number}", event="no TLS")
    assert len(lines) == BURST
    tell(complaints)
    assert lines[-1]["event"] == "denied"


async def test_what_no_line_came_for_is_summed_up(autojump_clock: trio.testing.MockClock, lines: list[Any]) -> None:
    complaints = Complaints()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(complaints.watch)
        for number in range(KINDS + 100):  # more than are remembered
            tell(complaints, about=number, event="no TLS")
        for _ in range(8):
            tell(complaints)
        lines.clear()
        await trio.sleep(SUM_UP + 1)
        (line,) = lines
        assert line["event"] == "lines left out"
        assert line["lines"] == {"no TLS": KINDS + 100 - BURST, "denied": 7}
        await trio.sleep(3 * SUM_UP)
        assert len(lines) == 1  # nothing is told twice
        nursery.cancel_scope.cancel()


async def test_what_somebody_else_wrote_is_cut(autojump_clock: trio.testing.MockClock, lines: list[Any]) -> None:
    Complaints().tell(log.info, "denied", name="x" * 30_000, port=1)
    (line,) = lines
    assert line["name"].endswith("x (30000 characters)")
    assert len(line["name"]) < SHORT + 30
    assert line["port"] == 1


@given(
    st.lists(
        st.tuples(
            st.floats(0, 30), st.integers(1, 200), st.sampled_from(["a", "b"]), st.integers(0, 3), st.integers(0, 2**40)
        ),
        max_size=40,
    )
)
def test_no_sequence_of_events_gives_more_lines_than_was_said_or_loses_one(
    steps: list[tuple[float, int, str, int, int]],
) -> None:
    """Each step: wait, then so many lines about one thing, with examples that differ."""
    clock = trio.testing.MockClock(autojump_threshold=0)
    told: list[tuple[float, dict[str, Any]]] = []
    complaints = Complaints()

    def write(event: str, **facts: Any) -> None:
        told.append((trio.current_time(), {"event": event, **facts}))

    async def play() -> None:
        for seconds, count, event, about, first in steps:
            await trio.sleep(seconds)
            for number in range(count):
                complaints.tell(write, event, about, first + number, about=about)

    trio.run(play, clock=clock)
    for event in ("a", "b"):
        times = [time for time, line in told if line["event"] == event]
        for start, begin in enumerate(times):
            for stop, end in enumerate(times[start:], 1):
                assert stop <= BURST + (end - begin) / PACE + 1e-6
        for kind in range(4):
            times = [time for time, line in told if (line["event"], line["about"]) == (event, kind)]
            for start, begin in enumerate(times):
                for stop, end in enumerate(times[start:], 1):
                    assert stop <= AT_ONCE + (end - begin) / NEXT + 1e-6
    with capture_logs() as summed:
        complaints.sum_up()
    counted = sum(line.get("left_out", 0) for _, line in told) + sum(sum(line["lines"].values()) for line in summed)
    assert counted == complaints.left_out == sum(count for _, count, *_ in steps) - len(told)


@given(st.lists(st.tuples(st.integers(), st.integers()), max_size=30), st.integers(0, 4 * KINDS))
def test_memory_is_bounded_whatever_clients_name(pairs: list[tuple[int, int]], more: int) -> None:
    complaints = Complaints()

    async def play() -> None:
        for about, example in (*pairs, *((number % (2 * KINDS), number) for number in range(more))):
            complaints.tell(lambda event, **facts: None, "denied", about, "x" * 100 + str(example))
        for example in range(3 * EXAMPLES):
            complaints.tell(lambda event, **facts: None, "denied", "bob", example)
            await trio.sleep(NEXT)

    trio.run(play, clock=trio.testing.MockClock(autojump_threshold=0))
    assert len(complaints._kinds) <= KINDS
    assert all(len(kind.told) <= EXAMPLES and len(kind.missed) <= EXAMPLES for kind in complaints._kinds.values())
