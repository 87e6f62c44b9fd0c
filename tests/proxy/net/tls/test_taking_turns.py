"""Handshakes that can go on at the same moment take turns, and all of them come to their end."""

from __future__ import annotations

import time

import trio
import trio.testing

from proxy.net.tls.taking_turns import SHARE, HandshakeTurns


def long() -> None:
    """A step that takes the whole share."""
    until = time.perf_counter() + SHARE
    while time.perf_counter() < until:
        pass


async def test_other_tasks_run_between_handshakes() -> None:
    turns, done, at_once = HandshakeTurns(), 0, [0]

    async def shake() -> None:
        nonlocal done
        await turns.run(long)
        done += 1

    async with trio.open_nursery() as nursery:
        for _ in range(20):
            nursery.start_soon(shake)
        before = 0
        while done < 20:
            await trio.lowlevel.checkpoint()
            at_once.append(done - before)
            before = done
    assert max(at_once) <= 2


async def test_short_ones_wake_each_other_to_the_last() -> None:
    turns, done = HandshakeTurns(), []

    async def shake(number: int) -> None:
        await turns.run(lambda: done.append(number))

    await turns.run(long)
    async with trio.open_nursery() as nursery:
        for number in range(50):
            nursery.start_soon(shake, number)
    assert sorted(done) == list(range(50))


async def test_those_that_give_up_or_fail_keep_no_other_waiting() -> None:
    turns, done = HandshakeTurns(), []

    async def shake(number: int) -> None:
        with trio.CancelScope() as scope:
            if number % 3 == 0:
                scope.cancel()
            try:
                await turns.run(lambda: done.append(1 // (number % 3 - 1)))
            except ZeroDivisionError:
                done.append(0)

    await turns.run(long)
    async with trio.open_nursery() as nursery:
        for number in range(60):
            nursery.start_soon(shake, number)
    assert sorted(done) == [0] * 20 + [1] * 20


async def test_a_step_gives_its_result() -> None:
    assert await HandshakeTurns().run(lambda: 7) == 7
