"""In flight: a response of the proxy leaves when its request is the oldest."""

from typing import Any

from proxy.core.context import Context
from proxy.core.inflight import SLOT, Answer, InFlight
from proxy.protocol.api import HEARTBEAT
from proxy.testing import connection

ROUTE: Any = object()


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
