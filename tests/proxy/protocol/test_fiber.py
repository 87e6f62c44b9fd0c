"""Fibers: a function stops where it says so, one at a time, and what it gives or raises comes out at the end."""

import threading
import weakref
from functools import partial

import pytest

from proxy.protocol import fiber
from proxy.protocol.fiber import at_once, in_slices, outside, turn, turns
from proxy.protocol.slices import ELEMENTS, Pace


def work(count, seen, fails=False):
    for number in range(count):
        seen.append((number, threading.get_ident()))
        turn()
    if fails:
        raise ValueError("boom")
    return "done"


def test_it_stops_after_so_many_turns_and_gives_its_value():
    seen = []
    slices = in_slices(work, 3 * ELEMENTS + 1, seen)
    for number in range(1, 4):
        next(slices)
        assert len(seen) == number * ELEMENTS
    with pytest.raises(StopIteration) as end:
        next(slices)
    assert end.value.value == "done"
    assert len(seen) == 3 * ELEMENTS + 1


def test_what_is_short_does_not_stop():
    assert list(in_slices(work, 3, [])) == []
    assert at_once(in_slices(work, 3, [])) == "done"


def test_what_it_raises_comes_out():
    with pytest.raises(ValueError, match="boom"):
        at_once(in_slices(work, ELEMENTS * 2, [], True))


def test_outside_of_a_fiber_nothing_stops():
    turn()
    assert list(turns("abc")) == ["a", "b", "c"]
    assert at_once(Pace().all(range(10 * ELEMENTS))) == list(range(10 * ELEMENTS))


def test_what_cannot_wait_for_slices_is_done_in_slices_within_a_fiber():
    slices = in_slices(lambda: at_once(Pace().all(range(3 * ELEMENTS))))
    assert len(list(slices)) == 3


def test_several_go_on_in_turn_and_none_runs_beside_another():
    seen = []
    one, other = in_slices(work, 2 * ELEMENTS, seen), in_slices(work, 2 * ELEMENTS, seen)
    next(one)
    next(other)
    next(one)
    idents = [ident for _, ident in seen]
    assert idents[0] != idents[ELEMENTS]
    assert [len(set(idents[i : i + ELEMENTS])) for i in range(0, 3 * ELEMENTS, ELEMENTS)] == [1, 1, 1]


def test_one_that_is_dropped_ends_where_it_stopped():
    ended = []

    def long():
        try:
            for _ in turns(range(10 * ELEMENTS)):
                pass
        except Exception:
            ended.append("swallowed")
        finally:
            ended.append("ended")

    slices = in_slices(long)
    next(slices)
    slices.close()
    assert ended == ["ended"]
    assert at_once(in_slices(work, 3, [])) == "done"  # its thread serves others


def test_threads_are_used_again(monkeypatch):
    monkeypatch.setattr(fiber, "_idle", [])
    first, second = [], []
    at_once(in_slices(work, 1, first))
    at_once(in_slices(work, 1, second))
    assert first == second
    several = [in_slices(work, 2 * ELEMENTS, []) for _ in range(fiber.IDLE + 3)]
    for slices in several:
        next(slices)
    for slices in several:
        slices.close()
    assert len(fiber._idle) == fiber.IDLE


def test_there_are_so_many_at_a_time_and_the_others_wait(monkeypatch):
    monkeypatch.setattr(fiber, "MOST", 1)
    seen, later = [], []
    one, other = in_slices(work, 2 * ELEMENTS, seen), in_slices(work, 1, later)
    next(one)
    next(other)
    next(other)
    assert not later
    one.close()
    assert list(other) == []
    assert len(later) == 1


def test_nothing_is_kept_of_what_a_fiber_was_given():
    class Thing:
        pass

    thing = Thing()
    gone = weakref.ref(thing)
    at_once(in_slices(lambda it: it and None, thing))
    with pytest.raises(ZeroDivisionError):
        at_once(in_slices(lambda it: 1 // 0, thing))
    del thing
    assert gone() is None


def test_what_belongs_to_another_thread_is_called_there_and_the_fiber_goes_on_at_once():
    def where(*words):
        return *words, threading.get_ident()

    def one():
        return outside(partial(where, "one"))

    def two():
        return [one(), at_once(in_slices(one)), one()]

    here = ("one", threading.get_ident())
    assert two() == [here] * 3
    assert at_once(in_slices(two)) == [here] * 3
    assert list(in_slices(one)) == []  # nobody else had a turn for it


def test_what_is_raised_outside_is_raised_in_the_fiber():
    def fail():
        raise KeyError("outside")

    def work():
        with pytest.raises(KeyError, match="outside"):
            outside(fail)
        return "went on"

    assert at_once(in_slices(work)) == "went on"
