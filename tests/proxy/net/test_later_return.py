"""Memory is returned to the system some time after it was used."""

from __future__ import annotations

import trio
import trio.testing

from proxy.net.later_return import AFTER, LaterReturn

LONG = 60.0  # seconds


async def test_whoever_asks_meanwhile_has_it_given_back_once_more_after_the_same_time(
    nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    times: list[float] = []
    returning = LaterReturn(lambda: times.append(trio.current_time()))
    nursery.start_soon(returning.run)
    began = trio.current_time()
    returning.ask()
    for _ in range(3):
        await trio.sleep(AFTER / 4)
        returning.ask()
    await trio.sleep(LONG)
    assert times == [began + AFTER, began + 2 * AFTER]


async def test_it_is_given_back_again_for_who_asks_afterwards(
    nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    times: list[float] = []
    returning = LaterReturn(lambda: times.append(trio.current_time()))
    nursery.start_soon(returning.run)
    await trio.sleep(LONG)
    assert times == []
    for _ in range(2):
        returning.ask()
        await trio.sleep(LONG)
    assert len(times) == 2
