"""The proxy checks a broker's address by a request before it uses it, and again while it is in use."""

from __future__ import annotations

import pytest
import trio

from proxy.core.topology import Endpoint
from proxy.net.dial import UnreachableError
from proxy.net.loops import LoopError
from proxy.net.paths import AHEAD, ASK_EVERY, MOST, REFUSED_FOR, WAIT_AFTER, Paths

KAFKA = Endpoint("kafka", 9092)


class Asking:
    """Paths whose questions are answered by the test."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self.asked = 0
        self.fails: UnreachableError | None = None
        self.answer = trio.Event()
        self.admitted = 0
        self.refused: list[UnreachableError] = []
        self._nursery = nursery
        self.paths = Paths(self._ask, nursery.start_soon)

    async def _ask(self, endpoint: Endpoint) -> None:
        self.asked += 1
        await self.answer.wait()
        if self.fails is not None:
            raise self.fails

    async def come(self, count: int) -> None:
        """So many clients, and time for those that are admitted."""

        async def one() -> None:
            try:
                await self.paths.admit(KAFKA)
                self.admitted += 1
            except UnreachableError as error:
                self.refused.append(error)

        for _ in range(count):
            self._nursery.start_soon(one)
        await trio.testing.wait_all_tasks_blocked()


@pytest.fixture
def asking(nursery: trio.Nursery) -> Asking:
    return Asking(nursery)


async def test_a_few_go_ahead_and_the_others_wait_for_the_answer(asking: Asking) -> None:
    await asking.come(100)
    assert (asking.admitted, asking.asked) == (AHEAD, 1)
    asking.answer.set()
    await asking.come(0)
    assert asking.admitted == 100


async def test_one_that_has_answered_is_asked_again_beside_those_who_come(asking: Asking) -> None:
    asking.answer.set()
    await asking.come(1)
    asking.answer = trio.Event()
    await asking.come(WAIT_AFTER)
    assert asking.asked == 2
    assert asking.admitted >= WAIT_AFTER
    await asking.come(2 * ASK_EVERY)
    assert asking.admitted <= WAIT_AFTER + ASK_EVERY + 1
    asking.answer.set()
    await asking.come(0)
    assert asking.admitted == 1 + WAIT_AFTER + 2 * ASK_EVERY


async def test_one_that_leads_back_is_refused_for_a_while(
    asking: Asking, autojump_clock: trio.testing.MockClock
) -> None:
    asking.fails = LoopError(KAFKA, "it comes back")
    asking.answer.set()
    await asking.come(100)
    assert len(asking.refused) == 100 - AHEAD
    assert all(isinstance(error, LoopError) for error in asking.refused)
    await asking.come(10)
    assert (asking.admitted, asking.asked) == (AHEAD, 1)
    await trio.sleep(REFUSED_FOR)
    asking.fails = None
    await asking.come(ASK_EVERY)
    assert (asking.admitted, asking.asked) == (AHEAD + ASK_EVERY, 2)


async def test_one_that_cannot_be_reached_is_asked_again_by_the_next(asking: Asking) -> None:
    asking.fails = UnreachableError(KAFKA, "connection refused")
    asking.answer.set()
    await asking.come(20)
    assert {str(error) for error in asking.refused} == {"kafka:9092: connection refused"}
    asking.fails = None
    await asking.come(20)
    assert asking.asked == 2
    assert asking.admitted == AHEAD + 20


async def test_a_new_address_is_asked_before_anybody_comes_and_only_once(asking: Asking) -> None:
    asking.answer.set()
    for _ in range(3):
        asking.paths.look(KAFKA)
        await asking.come(0)
    assert asking.asked == 1


async def test_addresses_without_end_do_not_fill_the_memory(asking: Asking) -> None:
    asking.answer.set()
    for port in range(MOST + 10):
        asking.paths.look(Endpoint("kafka", port))
    await asking.come(0)
    assert len(asking.paths._paths) == MOST
