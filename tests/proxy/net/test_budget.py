"""The memory budget, with plain numbers and with real sockets."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from proxy.core.context import ELEMENT, Context
from proxy.core.decisions import Sleep, Steps
from proxy.core.decorators import on_request, on_response
from proxy.core.plugin import Plugin
from proxy.net.budget import PATIENCE, Budget
from proxy.net.spare_memory import SpareMemory
from proxy.protocol.frame import SIZE
from proxy.protocol.messages.fetch import FetchRequest, FetchResponse
from proxy.protocol.messages.produce import ProduceRequest
from proxy.protocol.slices import FEW
from tests.proxy.core.frames import answering, asking, heartbeat, heartbeat_answer, produce
from tests.proxy.net.test_reactor import World, receive, world

MIB = 1 << 20


@dataclass(eq=False)
class Holder:
    """A connection of which only matters what it holds."""

    among: set[Holder]
    held: int = 0
    paused: bool = False
    reason: str | None = None
    spare: int = 0  # of what it holds, what it can have again

    def __post_init__(self) -> None:
        self.among.add(self)

    def let_go(self) -> None:
        self.held -= self.spare
        self.spare = 0

    def pause(self) -> None:
        self.paused = True

    def resume(self) -> None:
        self.paused = False

    def abort(self, reason: str | None = None) -> None:
        self.reason = reason
        self.among.remove(self)


@pytest.fixture
def among() -> set[Holder]:
    return set()


@pytest.fixture
async def budget(nursery: trio.Nursery, among: set[Holder]) -> Budget:
    """100 MiB."""
    budget = Budget(100 * MIB, among)
    nursery.start_soon(budget.watch)
    return budget


async def test_while_enough_is_left_nobody_is_stopped(
    budget: Budget, among: set[Holder], autojump_clock: MockClock
) -> None:
    holders = [Holder(among, 7 * MIB) for _ in range(10)]
    await trio.sleep(60)
    assert budget.held == 70 * MIB
    assert not any(holder.paused or holder.reason for holder in holders)
    assert budget.pauses == budget.ends == 0


async def test_what_plugins_keep_of_ended_connections_counts_and_ends_no_other(
    budget: Budget, among: set[Holder], autojump_clock: MockClock
) -> None:
    large, small = Holder(among, 30 * MIB), Holder(among, MIB)
    kept = 90 * MIB
    budget.beside = lambda: kept
    await trio.sleep(2 * PATIENCE)
    assert budget.held == 121 * MIB
    assert (large.paused, small.paused, budget.ends) == (True, False, 0)
    kept = 0
    await trio.sleep(1)
    assert not large.paused


async def test_what_can_be_had_again_is_let_go_first(
    budget: Budget, among: set[Holder], autojump_clock: MockClock
) -> None:
    holders = [Holder(among, 40 * MIB, spare=20 * MIB) for _ in range(2)]
    await trio.sleep(1)
    assert [holder.held for holder in holders] == [20 * MIB, 20 * MIB]
    assert budget.pauses == 0


async def test_those_that_hold_most_are_not_read_until_others_let_go(
    budget: Budget, among: set[Holder], autojump_clock: MockClock
) -> None:
    large, small, released = Holder(among, 60 * MIB), Holder(among, MIB), Holder(among, 20 * MIB)
    await trio.sleep(1)
    assert (large.paused, small.paused) == (True, False)
    released.held = 0
    await trio.sleep(1)
    assert not large.paused
    assert budget.pauses == 1
    assert budget.ends == 0


async def test_who_holds_little_is_read_among_many_that_hold_next_to_nothing(
    budget: Budget, among: set[Holder], autojump_clock: MockClock
) -> None:
    large, modest, _ = Holder(among, 90 * MIB), Holder(among, MIB), [Holder(among, 1) for _ in range(1000)]
    await trio.sleep(1)
    assert (large.paused, modest.paused) == (True, False)
    modest.held = 2 * MIB
    budget.count_now(modest)
    assert not modest.paused


async def test_who_holds_most_is_ended_where_waiting_does_not_help(
    budget: Budget, among: set[Holder], autojump_clock: MockClock
) -> None:
    holders = [Holder(among, size * MIB) for size in (50, 20, 10, 1)]
    await trio.sleep(PATIENCE - 1)
    assert not any(holder.reason for holder in holders)
    await trio.sleep(2)
    reason = "it held 50.0 MiB of the 100.0 that all connections may hold (limits.memory)"
    assert [holder.reason for holder in holders] == [reason, None, None, None]
    assert not any(holder.paused for holder in among)
    assert budget.ends == 1


async def test_a_budget_that_is_spent_ends_them_at_once(
    budget: Budget, among: set[Holder], autojump_clock: MockClock
) -> None:
    holders = [Holder(among, size * MIB) for size in (40, 80, 15, 2)]
    await trio.sleep(0.2)
    assert [bool(holder.reason) for holder in holders] == [False, True, False, False]


async def test_between_two_looks_what_grows_is_looked_at(
    budget: Budget, among: set[Holder], autojump_clock: MockClock
) -> None:
    await trio.sleep(0.01)
    holders = [Holder(among) for _ in range(2)]
    for size in range(1, 60):
        for holder in holders:
            if not holder.paused and not holder.reason:
                holder.held = size * MIB
                budget.count_now(holder)
    assert all(holder.paused for holder in holders)
    assert budget.held < 80 * MIB
    holders[0].held = 70 * MIB
    budget.count_now(holders[0])
    await trio.testing.wait_all_tasks_blocked()
    assert holders[0].reason


async def test_who_holds_little_is_read_again_after_the_look_that_it_caused(
    budget: Budget, among: set[Holder], autojump_clock: MockClock
) -> None:
    await trio.sleep(0.01)
    Holder(among, 80 * MIB)
    modest = Holder(among, 90 * MIB)
    budget.count_now(modest)
    assert modest.paused
    modest.held = 2 * MIB
    await trio.testing.wait_all_tasks_blocked()
    assert not modest.paused
    assert budget.held == 82 * MIB
    assert budget.pauses == 2


async def test_a_chunk_that_is_too_much_has_no_others_looked_at_before_others_run(among: set[Holder]) -> None:
    budget = Budget(100 * MIB, among)
    holder, other = Holder(among, 101 * MIB), Holder(among, MIB)
    budget.count_now(holder)
    assert (holder.paused, holder.reason, budget.held) == (True, None, 101 * MIB)
    list(budget.look())
    assert holder.reason
    assert not other.paused


async def test_what_came_and_went_between_two_looks_is_given_back_too(among: set[Holder]) -> None:
    given_back: list[None] = []
    budget = Budget(100 * MIB, among, SpareMemory(lambda: given_back.append(None)))
    holder = Holder(among)
    list(budget.look())
    holder.held = 40 * MIB
    budget.count_now(holder)
    among.remove(holder)
    budget.forget(holder)
    for _ in range(2):
        list(budget.look())
    assert len(given_back) == 1


async def test_what_ended_holds_nothing_and_is_not_resumed(
    budget: Budget, among: set[Holder], autojump_clock: MockClock
) -> None:
    large = Holder(among, 90 * MIB)
    await trio.sleep(1)
    assert large.paused
    among.remove(large)
    budget.forget(large)
    assert budget.held == 0
    await trio.sleep(1)
    assert large.paused


async def test_others_run_while_very_many_are_looked_at_and_what_ends_meanwhile_holds_nothing(
    budget: Budget, among: set[Holder]
) -> None:
    many = [Holder(among, 1) for _ in range(50_000)]
    while not budget.held:
        await trio.lowlevel.checkpoint()
    assert budget.held < len(many)
    for holder in many[::2]:
        among.remove(holder)
        budget.forget(holder)
    while budget.held < len(among):
        await trio.lowlevel.checkpoint()
    assert budget.held == len(many) // 2


class Waiting(Plugin):
    """Reads what has to do with records, and lets it wait."""

    @on_request(ProduceRequest)
    def produce(self, ctx: Context, request: ProduceRequest) -> Steps:
        yield Sleep(1e6)
        return None

    @on_request(FetchRequest)
    def fetch(self, ctx: Context, request: FetchRequest) -> Steps:
        if request.topics:
            yield Sleep(1e6)
        return None

    @on_response(FetchResponse)
    def fetched(self, ctx: Context, response: FetchResponse) -> Steps:
        yield Sleep(1e6)
        return None


async def held(here: World, at_least: int) -> int:
    """What is held, once it is so much."""
    while True:
        list(here.reactor.budget.look())
        if here.reactor.budget.held >= at_least:
            return here.reactor.budget.held
        await trio.sleep(0.01)


async def test_what_is_assembled_is_held() -> None:
    async with world() as here:
        client, _ = here.link(Waiting())
        await client.send_all(produce(1, acks=1, records=b"r" * (8 * MIB))[: 6 * MIB])
        assert await held(here, 6 * MIB) == 6 * MIB
        await client.aclose()
        await here.until_over()
        assert here.reactor.budget.held == 0


async def test_what_waits_for_its_handlers_counts_more_than_its_bytes() -> None:
    async with world() as here:
        client, _ = here.link(Waiting())
        await client.send_all(produce(1, acks=1, records=b"r" * MIB))
        assert await held(here, MIB + 2 * ELEMENT)


async def test_a_request_counts_by_its_elements() -> None:
    async with world() as here:
        client, _ = here.link(Waiting())
        topics = [FetchRequest.Topic(topic=f"topic-{number}", partitions=[]) for number in range(5000)]
        frame = asking(FetchRequest(topics=topics, max_wait_ms=0, min_bytes=0), 1, 11)
        await client.send_all(frame)
        assert await held(here, 5000 * ELEMENT)


async def test_a_small_request_that_waits_counts_by_its_elements_too() -> None:
    async with world() as here:
        client, _ = here.link(Waiting())
        topics = [FetchRequest.Topic(topic="t", partitions=[]) for _ in range(FEW)]
        frame = asking(FetchRequest(topics=topics, max_wait_ms=0, min_bytes=0), 1, 11)
        await client.send_all(frame)
        assert await held(here, FEW * ELEMENT)


async def test_records_that_were_fetched_count_once_more_at_the_most() -> None:
    """50 MiB are usual: a few consumers at a time must have room."""
    async with world() as here:
        client, broker = here.link(Waiting())
        await client.send_all(asking(FetchRequest(topics=[], max_wait_ms=0, min_bytes=0), 1, 11))
        assert await receive(broker, 1)
        partition = FetchResponse.Topic.Partition(
            partition_index=0, error_code=0, high_watermark=0, records=b"r" * 8 * MIB
        )
        answer = FetchResponse(responses=[FetchResponse.Topic(topic="orders", partitions=[partition])])
        await broker.send_all(answering(answer, 1, 11))
        assert 8 * MIB <= await held(here, 8 * MIB) < 17 * MIB


async def test_what_a_client_does_not_take_is_held() -> None:
    async with world() as here:
        client, broker = here.link(buffers=4096)
        await client.send_all(heartbeat(1))
        await receive(broker, len(heartbeat(1)))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(broker.send_all, SIZE.pack(16 * MIB) + heartbeat_answer(1)[4:8] + b"x" * 16 * MIB)
            assert await held(here, 1)
            nursery.cancel_scope.cancel()


async def test_one_that_was_not_read_goes_on_when_there_is_room_though_nothing_comes() -> None:
    async with world(8 * MIB) as here:
        client, _ = here.link(Waiting())
        frame = produce(1, acks=1, records=b"r" * (16 * MIB))
        await client.send_all(frame[: 7 * MIB])
        while not here.reactor.budget.pauses:
            await trio.sleep(0.01)
        await client.send_all(frame[7 * MIB :][:1000])  # it waits in the socket
        await trio.testing.wait_all_tasks_blocked(0.05)
        here.reactor.budget.apply(128 * MIB)
        list(here.reactor.budget.look())
        with trio.fail_after(10):
            await held(here, 7 * MIB + 1000)


async def test_connections_that_assemble_much_leave_room_for_others() -> None:
    async with world(32 * MIB) as here:
        frame = produce(1, acks=1, records=b"r" * (16 * MIB))
        async with trio.open_nursery() as nursery:
            for _ in range(4):
                greedy, _ = here.link(Waiting())
                nursery.start_soon(greedy.send_all, frame[:-1])
            while not here.reactor.budget.pauses:
                await trio.sleep(0.01)
            modest, broker = here.link(Waiting())
            await modest.send_all(heartbeat(1))
            assert await receive(broker, len(heartbeat(1))) == heartbeat(1)
            list(here.reactor.budget.look())
            assert here.reactor.budget.held <= 32 * MIB
            nursery.cancel_scope.cancel()
