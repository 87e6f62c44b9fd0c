"""Long work has other tasks run in between."""

from __future__ import annotations

import trio

from proxy.net.time_slices import TimeSlice


async def test_others_run_after_each_slice_of_work(nursery: trio.Nursery) -> None:
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await trio.lowlevel.checkpoint()

    nursery.start_soon(other)
    working = TimeSlice()
    for _ in range(5):
        while not working.is_over:
            pass
        await working.let_others_run()
        assert not working.is_over
    assert turns >= 4
