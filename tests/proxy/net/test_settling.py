"""Memory is given back some time after it was used."""

from __future__ import annotations

import trio
import trio.testing

from proxy.net.settling import AFTER, Settling

LONG = 60.0  # seconds


async def test_it_is_given_back_once_for_all_who_ask_meanwhile(
    nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    times: list[float] = []
    settling = Settling(lambda: times.append(trio.current_time()))
    nursery.start_soon(settling.run)
    began = trio.current_time()
    settling.ask()
    await trio.sleep(AFTER / 2)
    settling.ask()
    await trio.sleep(LONG)
    assert times == [began + AFTER]


async def test_it_is_given_back_again_for_who_asks_afterwards(
    nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    times: list[float] = []
    settling = Settling(lambda: times.append(trio.current_time()))
    nursery.start_soon(settling.run)
    await trio.sleep(LONG)
    assert times == []
    for _ in range(2):
        settling.ask()
        await trio.sleep(LONG)
    assert len(times) == 2
