"""Resuming: links go on after a time, a turn, a thread or a signal; links that have ended do not."""

from __future__ import annotations

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


@pytest.mark.parametrize(("work", "told"), [(lambda: 1, Wake(3, 0)), (lambda: 1 // 0, Wake(3, -1))])
async def test_a_link_hears_of_work_in_a_thread_whatever_becomes_of_it(work: Callable[[], int], told: Wake) -> None:
    async with resuming() as (here, _):
        waiting = Waiting()
        here.perform(waiting, 3, work)
        while not waiting.done:
            await trio.sleep(0.001)
        assert waiting.done == [told]


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
        many, over, other = [Waiting() for _ in range(100)], Waiting(), Waiting()
        for each in (*many, over):
            here.perform(each, 3, long, apart=True)
        over.closing = True
        here.perform(other, 4, lambda: 1)
        with trio.fail_after(PATIENCE):
            while not other.done:
                await trio.sleep(0.001)
            assert not any(each.done for each in many)
            everything.set()
            while not all(each.done for each in many):
                await trio.sleep(0.001)
    assert most == 1
    assert not over.done
