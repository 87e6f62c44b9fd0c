"""In flight: a response of the proxy leaves when its request is the oldest."""

from collections.abc import Iterator
from typing import Any

import pytest

from proxy.core.context import Context
from proxy.core.filter_chain import FilterChain
from proxy.core.inflight import OURS, SLOT, Answer, InFlight
from proxy.protocol.api import FETCH, HEARTBEAT
from proxy.testing import connection

ROUTE: Any = object()
PASSING = FilterChain(HEARTBEAT, 4, None, None)


class Kept:
    """What a plugin noted."""

    held = 100_000


def test_answers_of_ours_wait_for_older_requests() -> None:
    inflight = InFlight()
    inflight.slots.append((1, ROUTE, None))
    inflight.answer(Answer((b"a",)))
    inflight.answer(Answer((b"b",)))
    inflight.slots.append((2, ROUTE, None))
    inflight.answer(Answer((b"c",)))
    assert inflight.due() is None
    inflight.slots.popleft()
    assert [inflight.due(), inflight.due(), inflight.due()] == [Answer((b"a",)), Answer((b"b",)), None]
    inflight.slots.popleft()
    assert [inflight.due(), inflight.due()] == [Answer((b"c",)), None]
    assert (inflight.ours, len(inflight.slots)) == (0, 0)


def test_answers_that_wait_are_held_until_they_are_due() -> None:
    waiting = InFlight()
    waiting.slots.append((1, ROUTE, None))
    waiting.answer(Answer((b"answer",)))
    waiting.answer(Answer((b"another",)))
    assert waiting.held == 3 * SLOT + len(b"answer" + b"another")
    waiting.slots.popleft()
    assert [waiting.due(), waiting.due()] == [Answer((b"answer",)), Answer((b"another",))]
    assert waiting.held == 0


def test_a_request_in_flight_is_held_whatever_was_noted_of_it() -> None:
    waiting = InFlight()
    waiting.slots += [(1, ROUTE, None), (2, ROUTE, Context(connection(), HEARTBEAT, 4, 2))]
    assert waiting.held == 2 * SLOT
    waiting.clear()
    assert waiting.held == 0


def test_what_was_noted_of_a_request_is_held_until_its_answer() -> None:
    waiting = InFlight()
    noted = Context(connection(), HEARTBEAT, 4, 1, {"of a plugin": True, "of another": Kept()})
    waiting.slots += [(1, ROUTE, None), (2, ROUTE, noted)]
    assert waiting.held == 2 * SLOT + Kept.held
    waiting.slots.popleft()
    assert waiting.held == SLOT + Kept.held
    waiting.slots.popleft()
    assert waiting.held == 0


class Looked(list[Any]):
    """Slots that count how many of them were looked at."""

    looked = 0

    def __reversed__(self) -> Iterator[Any]:
        for slot in super().__reversed__():
            self.looked += 1
            yield slot


@pytest.mark.parametrize("in_turn", [True, False])
def test_nothing_in_front_of_a_request_that_was_answered_in_its_turn_is_looked_at(in_turn: bool) -> None:
    inflight = InFlight()
    looked = Looked([(1, PASSING, None)])
    looked += [(0, OURS, Answer((), in_turn=in_turn))] * 100
    inflight.slots = looked  # type: ignore[assignment]
    assert not inflight.may_wait
    assert looked.looked == (1 if in_turn else 101)


def test_a_fetch_may_wait_whatever_was_answered_behind_it() -> None:
    inflight = InFlight()
    inflight.slots += [(1, FilterChain(FETCH, 4, None, None), None), (2, PASSING, None), (0, OURS, Answer(()))]
    assert inflight.may_wait
    inflight.slots.popleft()
    assert not inflight.may_wait
