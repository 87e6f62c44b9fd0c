"""When memory is returned to the system, with plain numbers."""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock

from proxy.net.spare_memory import AGAIN, SpareMemory

MIB = 1 << 20


class Process:
    """A process of so many MiB, of which some are free. `returned` counts how often memory was returned."""

    def __init__(self) -> None:
        self.used, self.free = 100, 0
        self.returned = 0
        self.memory = SpareMemory(self._return, lambda: max(self.used + self.free, 0) * MIB)

    def _return(self) -> None:
        self.free = 0
        self.returned += 1

    async def looks(self, count: int, held: int = 0) -> list[int]:
        """Look once a second, and say how often memory had been returned after each look."""
        found = []
        for _ in range(count):
            self.memory.look(held * MIB)
            found.append(self.returned)
            await trio.sleep(1.0)
        return found


@pytest.fixture
def process() -> Process:
    process = Process()
    process.memory.look(0)
    return process


async def test_memory_is_returned_twice_more_when_what_others_kept_of_it_is_idle(
    process: Process, autojump_clock: MockClock
) -> None:
    assert AGAIN == (1.0, 4.0)
    assert await process.looks(1, held=40) == [0]
    assert await process.looks(6) == [1, 2, 2, 2, 3, 3]


async def test_memory_is_returned_after_much_was_freed_that_is_not_counted(
    process: Process, autojump_clock: MockClock
) -> None:
    found = []
    for freed in (3, 3, 3, 0, 0, 0):
        process.memory.freed(freed * MIB)
        found += await process.looks(1)
    assert found == [0, 0, 1, 1, 1, 2]


async def test_memory_that_was_used_for_a_moment_between_two_looks_is_returned(
    process: Process, autojump_clock: MockClock
) -> None:
    process.free = 27
    assert await process.looks(6) == [0, 1, 1, 1, 2, 2]
    assert process.free == 0


async def test_what_stays_in_use_is_returned_for_once(process: Process, autojump_clock: MockClock) -> None:
    process.used += 27
    assert (await process.looks(20))[-1] == 2


async def test_growth_is_counted_from_the_least_that_the_process_had(
    process: Process, autojump_clock: MockClock
) -> None:
    process.used -= 30
    await process.looks(1)
    process.free = 27
    assert (await process.looks(2))[-1] == 1


async def test_what_connections_hold_is_no_spare_memory(process: Process, autojump_clock: MockClock) -> None:
    process.used += 40
    assert (await process.looks(20, held=38))[-1] == 0


async def test_little_is_left_as_it_is(process: Process, autojump_clock: MockClock) -> None:
    process.free = 4
    assert (await process.looks(20))[-1] == 0


async def test_a_process_that_always_grows_returns_memory_at_intervals(
    process: Process, autojump_clock: MockClock
) -> None:
    found = []
    for _ in range(50):
        process.free += 10
        found += await process.looks(1)
    assert 15 < found[-1] < 30


@pytest.mark.parametrize("used", [100, -(10**6)], ids=["known", "not known"])
async def test_what_connections_hold_comes_and_goes_while_the_process_stays(
    process: Process, autojump_clock: MockClock, used: int
) -> None:
    process.used = used
    for number in range(30):
        await process.looks(1, held=97 + 6 * (number % 2))
    assert process.returned == 0
