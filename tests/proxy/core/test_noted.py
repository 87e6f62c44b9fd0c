"""What is noted of requests in flight is counted, and each request is looked at once."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest

from proxy.core.context import Context
from proxy.core.inflight import Slot
from proxy.core.noted import Noted
from proxy.protocol.api import HEARTBEAT
from proxy.testing import connection

ROUTE: Any = object()
CLIENT = connection()


class Note:
    """What a plugin noted: so many bytes. `looks`: how often they were asked for."""

    def __init__(self, size: int) -> None:
        self._size = size
        self.looks = 0

    @property
    def held(self) -> int:
        self.looks += 1
        return self._size


def slot(size: int | None, number: int = 1) -> Slot:
    """The slot of a request of which so much was noted; None: nothing was."""
    notes = {} if size is None else {"of a plugin": Note(size)}
    return number, ROUTE, Context(CLIENT, HEARTBEAT, 4, number, notes)


@pytest.fixture
def slots() -> deque[Slot]:
    return deque()


@pytest.fixture
def noted(slots: deque[Slot]) -> Noted:
    return Noted(slots)


def test_requests_come_and_go_between_two_counts(slots: deque[Slot], noted: Noted) -> None:
    expected = [1, None, 20, 300, None, 4_000, None, 50_000, 600_000]
    for come, gone in ((3, 1), (0, 1), (4, 2), (0, 0), (2, 5), (0, 0)):
        slots.extend(slot(expected.pop(0)) for _ in range(come))
        for _ in range(gone):
            slots.popleft()
        there = sum(each[2].held for each in slots)
        assert [noted.count(), noted.count()] == [there, there]
    assert not slots
    assert noted.count() == 0


def test_all_may_have_gone_and_others_have_come(slots: deque[Slot], noted: Noted) -> None:
    slots.extend([slot(1), slot(20)])
    assert noted.count() == 21
    slots.clear()
    slots.extend([slot(300), slot(4_000), slot(50_000)])
    assert noted.count() == 54_300


def test_a_request_that_was_taken_and_put_back_counts_once(slots: deque[Slot], noted: Noted) -> None:
    slots.extend([slot(1), slot(20)])
    assert noted.count() == 21
    slots.appendleft(slots.popleft())
    assert noted.count() == 21


def test_each_request_is_looked_at_once(slots: deque[Slot], noted: Noted) -> None:
    slots.extend(slot(7, number) for number in range(1_000))
    for _ in range(3):
        assert noted.count() == 7_000
    looks = [each[2].notes["of a plugin"].looks for each in slots]
    assert looks == [1] * 1_000


def test_requests_that_are_like_a_sample_hold_nothing_of_their_own(slots: deque[Slot], noted: Noted) -> None:
    sample = slot(300)[2].as_sample()
    slots.extend((number, ROUTE, sample) for number in range(10))
    assert noted.count() == 0


def test_what_waits_to_be_counted_with_its_answer_is_held(slots: deque[Slot], noted: Noted) -> None:
    slots.append((1, ROUTE, (object(), Note(300), None)))
    assert noted.count() == 300


def test_nothing_is_held_where_nothing_is_in_flight_any_more(slots: deque[Slot], noted: Noted) -> None:
    slots.append(slot(300))
    noted.count()
    slots.clear()
    noted.clear()
    assert noted.count() == 0
    slots.append(slot(1))
    assert noted.count() == 1
