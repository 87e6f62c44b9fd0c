"""The queue: bounded, and its losses are recorded in it."""

from __future__ import annotations

from plugins.audit.queue import SIZE, DeferredEvent, EventQueue, Loss, QueuedEvent, events_in
from plugins.audit.shared import SharedFields
from plugins.audit.told import ToldTraffic

TOLD = ToldTraffic(SharedFields({}), "Produce", 9)
TOLD.know(0, b"t", b'"type":"topic"')


def event(at: float, weight: int = 1) -> QueuedEvent:
    return QueuedEvent("request", at, None, {}, weight)


def taken(queue: EventQueue) -> list[float | tuple[int, float, float]]:
    found: list[float | tuple[int, float, float]] = []
    while (entry := queue.take()) is not None:
        found.append((entry.count, entry.since, entry.until) if isinstance(entry, Loss) else entry.at)
    return found


def test_events_leave_in_their_order() -> None:
    queue = EventQueue()
    for at in (1.0, 2.0, 3.0):
        queue.put(event(at))
    assert len(queue) == 3
    assert taken(queue) == [1.0, 2.0, 3.0]


def test_what_finds_no_room_is_counted_where_it_would_have_stood() -> None:
    queue = EventQueue(room=2)
    assert [queue.put(event(at)) for at in (1.0, 2.0, 3.0, 4.0)] == [True, True, False, False]
    assert queue.take() == event(1.0)
    queue.put(event(5.0))
    queue.put(event(6.0))
    assert taken(queue) == [2.0, (2, 3.0, 4.0), 5.0, (1, 6.0, 6.0)]


def test_a_loss_that_was_taken_does_not_grow() -> None:
    queue = EventQueue(room=1)
    queue.put(event(1.0))
    queue.put(event(2.0))
    queue.put(event(3.0, weight=5))
    assert taken(queue) == [1.0, (2, 2.0, 3.0)]
    queue.put(event(4.0))
    queue.put(event(5.0))
    assert taken(queue) == [4.0, (1, 5.0, 5.0)]


def test_an_event_that_finds_no_room_may_be_counted_while_the_writer_takes_all_that_waits() -> None:
    queue, found = EventQueue(room=1), []

    class Late(QueuedEvent):
        """The queue asks when it happened once it has found no room: meanwhile the writer takes all."""

        @property
        def at(self) -> float:  # type: ignore[override]
            found.extend(taken(queue))
            return 3.0

    queue.put(event(1.0))
    queue.put(event(2.0))
    assert not queue.put(Late(*event(3.0)))
    assert found == [1.0, (1, 2.0, 2.0)]
    assert taken(queue) == [(1, 3.0, 3.0)]


def test_an_event_counts_by_what_is_in_it() -> None:
    queue = EventQueue(room=10)
    queue.put(event(1.0, weight=8))
    assert not queue.put(event(2.0, weight=3))


def test_one_that_is_larger_than_all_room_is_taken_where_nothing_else_waits() -> None:
    queue = EventQueue(room=10)
    queue.put(event(1.0, weight=100))
    assert taken(queue) == [1.0]


def later(at: float, weight: int) -> DeferredEvent:
    return DeferredEvent(at, weight, lambda: event(at))


def test_events_that_are_still_to_be_made_have_room_of_their_own_and_are_counted_until_they_are() -> None:
    queue = EventQueue(room=2, deferred=10)
    for at in (1.0, 2.0):
        assert queue.put(later(at, 5))
    assert queue.put(event(3.0, weight=2))
    assert not queue.put(later(4.0, 1))
    assert queue.held == 10 * SIZE
    assert taken(queue) == [1.0, 2.0, 3.0, (1, 4.0, 4.0)]
    assert queue.held == 0
    assert queue.put(later(5.0, 5), is_stuck=True)
    assert not queue.put(later(6.0, 1), is_stuck=True), "the disk takes nothing"


def tell(queue: EventQueue, at: float) -> bool:
    return queue.tell(at, TOLD, bytes(8 * 13))


def test_events_that_nobody_read_are_kept_together_while_nothing_comes_between_them() -> None:
    queue = EventQueue()
    tell(queue, 1.0)
    tell(queue, 2.0)
    queue.put(event(3.0))
    tell(queue, 4.0)
    assert (len(queue), queue.events) == (3, 4)
    first, other, last = (queue.take() for _ in range(3))
    assert other == event(3.0)
    assert [[at for at, _ in each.whose()] for each in (first, last)] == [[1.0, 2.0], [4.0]]


def test_nothing_is_added_to_what_was_taken() -> None:
    queue = EventQueue()
    tell(queue, 1.0)
    taken = queue.take()
    tell(queue, 2.0)
    assert (events_in(taken), queue.events) == (1, 1)


def test_those_that_find_no_room_are_counted_where_they_would_have_stood() -> None:
    queue = EventQueue(room=5)
    assert [tell(queue, at) for at in (1.0, 2.0, 3.0)] == [True, True, False]
    queue.take()
    assert tell(queue, 4.0)
    loss, last = queue.take(), queue.take()
    assert isinstance(loss, Loss)
    assert (loss.count, loss.since, events_in(last)) == (1, 3.0, 1)
    assert [tell(queue, at) for at in (5.0, 6.0, 7.0)] == [True, True, False], "each weighs two"
