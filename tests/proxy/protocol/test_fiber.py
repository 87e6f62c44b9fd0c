"""Fibers: a function pauses where it asks to, one at a time; its result or error comes out at the end."""

import weakref
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar

import pytest

from proxy.protocol.fiber import at_once, in_slices, rest, turn, turns
from proxy.protocol.slices import ELEMENTS, Pace


def work(count, seen, fails=False):
    for number in range(count):
        seen.append(number)
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


def test_after_work_that_took_long_it_stops_at_once():
    slices = in_slices(rest)
    next(slices)
    assert list(slices) == []
    rest()  # outside of a fiber it does nothing


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


def test_several_go_on_in_turn():
    one, other = [], []
    slices = in_slices(work, 2 * ELEMENTS, one), in_slices(work, 2 * ELEMENTS, other)
    for each in slices * 2:
        next(each)
    assert len(one) == len(other) == 2 * ELEMENTS


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


def test_nothing_is_kept_of_what_a_fiber_was_given():
    class Thing:
        pass

    thing = Thing()
    gone = weakref.ref(thing)
    at_once(in_slices(lambda it: it and None, thing))
    with pytest.raises(ZeroDivisionError):
        at_once(in_slices(lambda it: 1 // 0, thing))
    slices = in_slices(lambda it: work(2 * ELEMENTS, []) and it, thing)
    next(slices)
    del thing
    slices.close()
    assert gone() is None


def test_fibers_may_be_begun_in_fibers():
    def one():
        for _ in turns(range(2 * ELEMENTS)):
            pass
        return "one"

    def two():
        return [one(), at_once(in_slices(one)), at_once(in_slices(at_once, in_slices(one)))]

    slices = in_slices(two)
    assert len([*slices]) == 6
    assert at_once(in_slices(two)) == ["one"] * 3


def test_one_that_is_begun_in_a_fiber_may_be_resumed_elsewhere():
    def begin():
        slices = in_slices(work, 2 * ELEMENTS, [])
        next(slices)
        return slices

    assert len([*at_once(in_slices(begin))]) == 1


def test_it_sees_the_context_variables_of_whoever_resumes_it():
    said = ContextVar("said", default="nothing")

    def hear():
        heard = []
        for _ in turns(range(2 * ELEMENTS)):
            heard.append(said.get())
        said.set("fiber")
        return heard[0], heard[-1]

    slices = in_slices(hear)
    said.set("first")
    next(slices)
    said.set("second")
    assert at_once(slices) == ("first", "second")
    assert said.get() == "fiber"


def test_what_runs_in_another_thread_meanwhile_does_not_stop():
    def hand_over():
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(work, 3 * ELEMENTS, []).result(timeout=60)

    assert list(in_slices(hand_over)) == []


def test_what_is_swallowed_while_it_is_dropped_cannot_keep_it():
    ended = []

    def stubborn():
        for _ in range(3):
            try:
                list(turns(range(10 * ELEMENTS)))
            except BaseException:
                ended.append("swallowed")

    slices = in_slices(stubborn)
    next(slices)
    slices.close()
    assert ended == ["swallowed"] * 3
