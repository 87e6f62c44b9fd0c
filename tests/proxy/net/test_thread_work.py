"""What a plugin does in threads comes to its end, unless it is hurried."""

from __future__ import annotations

import threading

import pytest
import trio
import trio.testing

from proxy.net.thread_work import ThreadWork


async def test_work_that_has_begun_is_waited_for_also_when_its_task_is_cancelled() -> None:
    threads, begun, let_go = ThreadWork(), threading.Event(), threading.Event()
    done: list[bool] = []

    def work() -> None:
        begun.set()
        let_go.wait()

    async def finish() -> None:
        done.append(await threads.finish(work))

    async def let_go_once_all_wait() -> None:
        await trio.testing.wait_all_tasks_blocked()
        let_go.set()

    async with trio.open_nursery() as around, trio.open_nursery() as nursery:
        nursery.start_soon(finish)
        await trio.to_thread.run_sync(begun.wait)
        nursery.cancel_scope.cancel()
        around.start_soon(let_go_once_all_wait)
    assert done == [True]


async def test_work_that_is_hurried_is_left_and_so_is_what_follows(autojump_clock: trio.testing.MockClock) -> None:
    threads, let_go = ThreadWork(), threading.Event()
    done: list[bool] = []

    async def finish() -> None:
        done.append(await threads.finish(let_go.wait))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(finish)
        await trio.testing.wait_all_tasks_blocked()
        threads.hurry(3)
        threads.hurry(5)
    assert trio.current_time() == 3
    await finish()
    assert trio.current_time() == 3
    assert done == [False, False]
    let_go.set()


async def test_an_error_of_the_work_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        await ThreadWork().finish(lambda: 1 // 0)
