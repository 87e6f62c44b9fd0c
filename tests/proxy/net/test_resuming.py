"""Resuming: links go on after a time, a turn, a thread or a signal; links that have ended do not."""

from __future__ import annotations

import sys
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from proxy.core.clock import Clock
from proxy.core.commands import Command, Wake
from proxy.core.filters import Filters
from proxy.core.link import Link
from proxy.core.signal import Signal
from proxy.net.resuming import Resuming
from proxy.net.turns import Turns
from proxy.testing import connection
from tests.proxy.net.scripted import PATIENCE


class Told(Link):
    """Says what it was told."""

    def performed(self, token: int, value: object, error: Exception | None = None) -> list[Command]:
        return [Wake(token, 0 if error is None else -1)]


class Waiting:
    """A conversation that waits; `done` is what it carried out."""

    def __init__(self) -> None:
        self.link: Link = Told(connection(), Filters(()))
        self.closing = False
        self.done: list[Command] = []

    def carry_out(self, commands: Sequence[Command]) -> None:
        self.done += commands


def step(waiter: Any, do: Callable[[], None]) -> None:
    do()


@asynccontextmanager
async def resuming(ago: float = 0.0) -> AsyncIterator[tuple[Resuming, Turns]]:
    """`ago`: seconds since the sockets were looked at."""
    turns = Turns()
    resuming = Resuming(turns, Clock(trio.current_time() - ago), step, step)
    async with trio.open_nursery() as nursery:
        await nursery.start(resuming.run)
        yield resuming, turns
        nursery.cancel_scope.cancel()


async def test_a_link_goes_on_after_a_while(autojump_clock: trio.testing.MockClock) -> None:
    async with resuming() as (here, _):
        waiting = Waiting()
        here.wake_later(waiting, 7, 60)
        await trio.sleep(59)
        assert not waiting.done
        await trio.sleep(2)
        assert waiting.done == [Wake(7, 0)]


async def test_time_counts_from_when_the_sockets_were_looked_at(autojump_clock: trio.testing.MockClock) -> None:
    async with resuming(ago=50) as (here, _):
        waiting = Waiting()
        here.wake_later(waiting, 7, 60)
        await trio.sleep(9)
        assert not waiting.done
        await trio.sleep(2)
        assert waiting.done == [Wake(7, 0)]


async def test_the_reactor_is_in_a_hurry_until_a_delay_has_begun(autojump_clock: trio.testing.MockClock) -> None:
    async with resuming() as (here, _):
        here.wake_later(Waiting(), 7, 60)
        assert here.in_hurry == 1
        await wait_all_tasks_blocked()
        assert here.in_hurry == 0


@pytest.mark.parametrize("apart", ["", "long"])
async def test_the_reactor_is_in_a_hurry_while_a_thread_makes_a_call(apart: str) -> None:
    begun, go_on = threading.Event(), threading.Event()
    async with resuming() as (here, _):
        waiting = Waiting()
        here.perform(waiting, 7, lambda: (begun.set(), go_on.wait(PATIENCE)), apart=apart)
        await trio.to_thread.run_sync(begun.wait, PATIENCE)
        assert here.in_hurry == 1
        go_on.set()
        with trio.fail_after(PATIENCE):
            while not waiting.done or here.in_hurry:
                await trio.sleep(0.001)


async def test_a_link_that_is_over_sleeps_no_longer(autojump_clock: trio.testing.MockClock) -> None:
    async with resuming() as (here, _):
        waiting = Waiting()
        here.wake_later(waiting, 7, 60)
        await wait_all_tasks_blocked()
        waiting.closing = True
        here.forget(waiting)
        await wait_all_tasks_blocked()
        assert trio.lowlevel.current_statistics().seconds_to_next_deadline > 1e6
        assert not waiting.done


async def test_a_sleep_is_over_when_its_signal_is_released(autojump_clock: trio.testing.MockClock) -> None:
    async with resuming() as (here, _):
        waiting = Waiting()
        here.wake_later(waiting, 7, 60)
        await wait_all_tasks_blocked()
        here.released(7, waiting)
        await wait_all_tasks_blocked()
        assert waiting.done == [Wake(7, 0)]
        assert trio.lowlevel.current_statistics().seconds_to_next_deadline > 1e6


async def test_a_turn_and_a_signal_wait_for_the_others() -> None:
    async with resuming() as (here, turns):
        waiting, over, signal = Waiting(), Waiting(), Signal()
        here.wake_later(waiting, 1, 0)
        here.wake_later(over, 1, 0)
        signal.on_release(waiting, lambda each: here.released(2, each))
        signal.release()
        over.closing = True
        assert not waiting.done
        turns.serve()
        assert waiting.done == [Wake(1, 0), Wake(2, 0)]
        assert not over.done


@pytest.mark.parametrize(
    ("work", "told"), [(lambda: 1, Wake(3, 0)), (lambda: 1 // 0, Wake(3, -1)), (sys.exit, Wake(3, -1))]
)
async def test_a_link_hears_of_work_in_a_thread_whatever_becomes_of_it(work: Callable[[], int], told: Wake) -> None:
    async with resuming() as (here, _):
        waiting = Waiting()
        here.perform(waiting, 3, work)
        while not waiting.done:
            await trio.sleep(0.001)
        assert waiting.done == [told]


async def test_calls_that_hang_take_no_thread_of_the_proxys_own_work() -> None:
    async with resuming() as (here, _):
        waiting, let_go = Waiting(), threading.Event()
        for token in range(50):
            here.perform(waiting, token, let_go.wait)
        await wait_all_tasks_blocked()
        try:
            with trio.fail_after(PATIENCE):
                await trio.to_thread.run_sync(threading.get_ident)
            assert not waiting.done
        finally:
            let_go.set()
        with trio.fail_after(PATIENCE):
            while len(waiting.done) < 50:
                await trio.sleep(0)


async def test_what_is_called_apart_is_done_in_turn_and_takes_no_thread_of_others() -> None:
    everything, under_way, most = threading.Event(), 0, 0

    def long() -> int:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        everything.wait(PATIENCE)
        under_way -= 1
        return 1

    async with resuming() as (here, _):
        many, over, other, named = [Waiting() for _ in range(100)], Waiting(), Waiting(), Waiting()
        for each in (*many, over):
            here.perform(each, 3, long, apart="long")
        over.closing = True
        here.perform(other, 4, lambda: 1)
        here.perform(named, 5, lambda: 1, apart="other")
        with trio.fail_after(PATIENCE):
            while not (other.done and named.done):
                await trio.sleep(0.001)
            assert not any(each.done for each in many)
            everything.set()
            while not all(each.done for each in many):
                await trio.sleep(0.001)
    assert most == 1
    assert not over.done


async def test_a_link_that_is_over_takes_its_long_calls_along() -> None:
    begun, go_on, asked = threading.Event(), threading.Event(), []
    async with resuming() as (here, _):
        first, over, last = Waiting(), Waiting(), Waiting()
        here.perform(first, 1, lambda: (begun.set(), go_on.wait(PATIENCE)), apart="long")
        here.perform(over, 1, lambda: asked.append("over"), apart="long")
        here.perform(last, 1, lambda: asked.append("last"), apart="long")
        await trio.to_thread.run_sync(begun.wait, PATIENCE)
        assert here.in_hurry == 1
        here.forget(over)
        go_on.set()
        with trio.fail_after(PATIENCE):
            while not last.done or here.in_hurry:
                await trio.sleep(0.001)
    assert asked == ["last"]


async def test_a_worker_that_ends_makes_no_more_long_calls() -> None:
    begun, go_on, asked = threading.Event(), threading.Event(), []

    async def end_the_first() -> None:
        await wait_all_tasks_blocked()
        go_on.set()

    async with trio.open_nursery() as nursery, resuming() as (here, _):
        here.perform(Waiting(), 1, lambda: (begun.set(), go_on.wait(PATIENCE)), apart="long")
        here.perform(Waiting(), 1, lambda: asked.append("more"), apart="long")
        await trio.to_thread.run_sync(begun.wait, PATIENCE)
        nursery.start_soon(end_the_first)  # once the worker has ended
    assert not asked


async def test_long_calls_wait_until_a_thread_can_be_started(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: trio.testing.MockClock
) -> None:
    begin, failures = trio.lowlevel.start_thread_soon, [RuntimeError("can't start new thread")]

    def begun(*arguments: Any, **named: Any) -> None:
        if failures:
            raise failures.pop()
        begin(*arguments, **named)

    monkeypatch.setattr("trio._threads.start_thread_soon", begun)
    async with resuming() as (here, _):
        waiting = Waiting()
        here.perform(waiting, 1, lambda: 1, apart="long")
        while not waiting.done:
            await trio.sleep(0.01)
    assert not failures
