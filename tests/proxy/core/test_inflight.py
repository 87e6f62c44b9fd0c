"""In flight: an answer of ours leaves when it is the oldest."""

from typing import Any

from proxy.core.inflight import InFlight

ROUTE: Any = object()


def test_answers_of_ours_wait_for_older_requests() -> None:
    inflight = InFlight()
    inflight.slots.append((1, ROUTE, None))
    inflight.settle(b"a")
    inflight.settle(b"b")
    inflight.slots.append((2, ROUTE, None))
    inflight.settle(b"c")
    assert inflight.due() == []
    inflight.slots.popleft()
    assert inflight.due() == [b"a", b"b"]
    assert inflight.due() == []
    inflight.slots.popleft()
    assert inflight.due() == [b"c"]
    assert (inflight.ours, len(inflight.slots)) == (0, 0)
