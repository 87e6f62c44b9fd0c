"""Long work has other tasks run in between."""

from __future__ import annotations

import trio

from proxy.net.time_slices import TimeSlice, in_slices


async def test_others_run_after_each_slice_of_work(nursery: trio.Nursery) -> None:
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await trio.lowlevel.checkpoint()

    worked: list[int] = []
    nursery.start_soon(other)
    async for item in in_slices(range(5)):
        now = TimeSlice()
        while not now.is_over:
            pass
        worked.append(item)
    assert worked == [0, 1, 2, 3, 4]
    assert turns >= 4


async def test_the_items_are_those_of_its_beginning() -> None:
    items = {1, 2, 3}
    async for item in in_slices(items):
        items.discard(item)
    assert not items
