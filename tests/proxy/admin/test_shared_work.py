"""Shared work, on a clock that jumps."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from proxy.admin.shared_work import SharedWork

EVERY = 0.5
TAKES = 0.1  # seconds


class Counting:
    """Work that counts how often it was begun, and remembers when."""

    def __init__(self) -> None:
        self.begun_at: list[float] = []
        self.fails = False

    async def __call__(self) -> int:
        self.begun_at.append(trio.current_time())
        number = len(self.begun_at)
        await trio.sleep(TAKES)
        if self.fails:
            raise ConnectionError
        return number


@pytest.fixture
def work() -> Counting:
    return Counting()


@pytest.fixture
def shared(work: Counting) -> SharedWork[int]:
    return SharedWork(work, EVERY)


async def test_who_asks_alone_never_waits(
    work: Counting, shared: SharedWork[int], autojump_clock: trio.testing.MockClock
) -> None:
    for number in (1, 2, 3):
        asked = trio.current_time()
        assert await shared.result() == number
        assert trio.current_time() == pytest.approx(asked + TAKES)
        await trio.sleep(EVERY)


async def test_all_who_wait_are_given_what_began_after_they_asked(
    work: Counting, shared: SharedWork[int], autojump_clock: trio.testing.MockClock
) -> None:
    given: list[int] = []

    async def ask(after: float) -> None:
        await trio.sleep(after)
        given.append(await shared.result())

    async with trio.open_nursery() as nursery:
        for after in (0.0, *[TAKES / 2] * 20, *[EVERY / 2] * 20, *[EVERY + TAKES / 2] * 20):
            nursery.start_soon(ask, after)
    assert given == [1, *[2] * 40, *[3] * 20]
    begun = work.begun_at
    assert [at - begun[0] for at in begun] == pytest.approx([0, EVERY, 2 * EVERY])


async def test_those_who_ask_again_and_again_make_no_more_than_one_in_a_while(
    work: Counting, shared: SharedWork[int], autojump_clock: trio.testing.MockClock
) -> None:
    async def ask() -> None:
        while True:
            await shared.result()

    with trio.move_on_after(20 * EVERY - TAKES):
        async with trio.open_nursery() as nursery:
            for _ in range(10):
                nursery.start_soon(ask)
    assert len(work.begun_at) == 20


async def test_after_a_failure_the_next_who_waits_tries_again(
    work: Counting, shared: SharedWork[int], autojump_clock: trio.testing.MockClock
) -> None:
    failed: list[float] = []

    async def ask() -> None:
        try:
            await shared.result()
        except ConnectionError:
            failed.append(trio.current_time())

    work.fails = True
    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(ask)
    assert len(failed) == 3
    work.fails = False
    assert await shared.result() == 4


async def test_who_leaves_does_not_keep_the_others_from_a_result(
    work: Counting, shared: SharedWork[int], autojump_clock: trio.testing.MockClock
) -> None:
    with trio.move_on_after(TAKES / 2):
        await shared.result()
    assert await shared.result() == 2
