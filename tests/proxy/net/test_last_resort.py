"""The line of the last resort names threads that are at work. `test_supervisor.py` has the end of whole processes."""

from __future__ import annotations

import threading

import trio

from proxy.net.last_resort import at_work


async def test_threads_that_are_at_work_are_named_with_their_places_and_no_others() -> None:
    begun, let_go = threading.Event(), threading.Event()

    def read_slowly() -> None:
        begun.set()
        let_go.wait()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.to_thread.run_sync, read_slowly)
        await trio.to_thread.run_sync(begun.wait)  # its own thread is idle from now on
        found = [each for each in at_work() if each.startswith("read_slowly from ")]
        let_go.set()
    assert [f"read_slowly at {__file__}:" in each for each in found] == [True]
    while any(each.startswith("read_slowly from ") for each in at_work()):
        await trio.sleep(0)
