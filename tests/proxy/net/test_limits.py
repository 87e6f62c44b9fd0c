from __future__ import annotations

from dataclasses import dataclass, field

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from proxy.config import LimitOptions
from proxy.net.limits import enforce
from proxy.telemetry.counters import NetworkCounters

LIMITS = LimitOptions.model_validate({"first_frame": "30s", "idle": "10m", "frame_time": "30s", "take_time": "5m"})
MIB = 1 << 20
counters = NetworkCounters()


@dataclass(eq=False)
class Side:
    """A side of which only the numbers matter."""

    received: int = 0
    blocked: int = 0
    stalled: bool = False
    stalls: int = 0
    lacking: int = 0
    kept: int = 0


@dataclass(eq=False)
class Connection:
    """A connection of which only the times and its sides matter."""

    among: set[Connection]
    begun: bool = False
    moved: int = 0
    seen: int = 0
    opened: float = field(default_factory=trio.current_time)
    active: float = field(default_factory=trio.current_time)
    ended: tuple[float, str | None] | None = None
    is_fault: bool = False
    client: Side = field(default_factory=Side)
    broker: Side = field(default_factory=Side)

    def __post_init__(self) -> None:
        self.among.add(self)

    def abort(self, reason: str | None = None, *, is_fault: bool = True) -> None:
        self.ended = trio.current_time() - self.opened, reason
        self.is_fault = is_fault
        self.among.remove(self)


@pytest.fixture
async def connections(nursery: trio.Nursery) -> set[Connection]:
    found: set[Connection] = set()
    nursery.start_soon(enforce, lambda: LIMITS, found, counters)
    return found


async def test_a_client_that_never_asks_is_ended_in_time(
    connections: set[Connection], autojump_clock: MockClock
) -> None:
    silent, before = Connection(connections), counters.late_first_frame
    await trio.sleep(29)
    assert silent.ended is None
    await trio.sleep(3)
    assert silent.ended is not None
    at, reason = silent.ended
    assert 30 <= at <= 31
    assert reason == "no request within 30 s (limits.first_frame)"
    assert counters.late_first_frame == before + 1
    assert silent.is_fault


async def test_others_run_while_very_many_are_ended(connections: set[Connection]) -> None:
    many = [Connection(connections, opened=trio.current_time() - 60) for _ in range(20_000)]
    found = []
    while connections:
        found.append(len(connections))
        await trio.lowlevel.checkpoint()
    assert len(set(found)) > 3
    assert all(each.ended for each in many)


async def test_who_left_while_others_were_ended_is_not_ended_again(connections: set[Connection]) -> None:
    many = [Connection(connections, opened=trio.current_time() - 60) for _ in range(20_000)]
    while len(connections) == len(many):
        await trio.lowlevel.checkpoint()
    (*_, left) = connections
    connections.remove(left)
    while connections:
        await trio.lowlevel.checkpoint()
    assert left.ended is None


async def test_a_client_that_asked_may_be_quiet_up_to_the_idle_limit(
    connections: set[Connection], autojump_clock: MockClock
) -> None:
    quiet, before = Connection(connections, begun=True), counters.idle
    await trio.sleep(599)
    assert quiet.ended is None
    await trio.sleep(3)
    assert quiet.ended is not None
    at, reason = quiet.ended
    assert 600 <= at <= 601
    assert reason == "nothing passed for 600 s (limits.idle)"
    assert counters.idle == before + 1
    assert not quiet.is_fault


async def test_whoever_says_something_now_and_then_stays(
    connections: set[Connection], autojump_clock: MockClock
) -> None:
    lively = Connection(connections, begun=True)
    for _ in range(10):
        await trio.sleep(500)
        lively.moved += 1
    assert lively.ended is None


async def test_bytes_that_are_no_request_yet_do_not_buy_time(
    connections: set[Connection], autojump_clock: MockClock
) -> None:
    dripping = Connection(connections)
    for _ in range(35):
        dripping.moved += 1
        await trio.sleep(1)
    assert dripping.ended is not None


@pytest.mark.parametrize("who", ["client", "broker"])
async def test_a_frame_that_began_and_does_not_go_on_is_ended_in_time(
    who: str, connections: set[Connection], autojump_clock: MockClock
) -> None:
    stuck, before = Connection(connections, begun=True), counters.slow_frames
    await trio.sleep(100)
    side: Side = getattr(stuck, who)
    side.received, side.lacking = 1000, 5
    await trio.sleep(29)
    assert stuck.ended is None
    await trio.sleep(4)
    assert stuck.ended is not None
    what = "a request of the client" if who == "client" else "a response of the broker"
    assert stuck.ended[1] == f"{what} was not whole in time (limits.frame_time)"
    assert counters.slow_frames == before + 1


async def test_bytes_that_drip_do_not_buy_time(connections: set[Connection], autojump_clock: MockClock) -> None:
    dripping = Connection(connections, begun=True)
    dripping.client.lacking = MIB
    for _ in range(60):
        dripping.client.received += 1
        dripping.client.lacking -= 1
        dripping.moved += 1
        await trio.sleep(1)
    assert dripping.ended is not None
    assert 30 <= dripping.ended[0] <= 32


async def test_a_large_frame_on_a_slow_line_passes(connections: set[Connection], autojump_clock: MockClock) -> None:
    slow = Connection(connections, begun=True)
    slow.client.lacking = 100 * MIB
    while slow.client.lacking > 0:
        slow.client.received += MIB
        slow.client.lacking -= MIB
        slow.moved += 1
        await trio.sleep(16)
    slow.client.lacking = 0
    await trio.sleep(100)
    assert slow.ended is None


async def test_a_frame_that_came_fast_and_stops_just_before_its_end_is_ended_soon(
    connections: set[Connection], autojump_clock: MockClock
) -> None:
    stopping = Connection(connections, begun=True)
    stopping.client.lacking = 100 * MIB
    await trio.sleep(2)
    stopping.client.received, stopping.client.lacking = 100 * MIB - 1, 1
    await trio.sleep(34)
    assert stopping.ended is not None


async def test_one_frame_after_the_other_may_last_for_ever(
    connections: set[Connection], autojump_clock: MockClock
) -> None:
    busy = Connection(connections, begun=True)
    for _ in range(20):
        busy.client.received += 1000
        busy.client.lacking = 10
        busy.moved += 1
        await trio.sleep(20)
    assert busy.ended is None


async def test_time_in_which_a_side_is_not_read_is_not_its_own(
    connections: set[Connection], autojump_clock: MockClock
) -> None:
    held_up = Connection(connections, begun=True)
    held_up.client.lacking, held_up.client.blocked = 5, 1
    await trio.sleep(200)
    assert held_up.ended is None
    held_up.client.blocked = 0
    await trio.sleep(25)
    assert held_up.ended is None
    await trio.sleep(10)
    assert held_up.ended is not None


async def test_nobody_is_late_because_the_process_was_stopped(
    connections: set[Connection], autojump_clock: MockClock
) -> None:
    fresh, quiet, sending, taking = (Connection(connections, begun=number > 0) for number in range(4))
    sending.client.lacking = 5
    taking.client.stalled, taking.client.stalls, taking.client.kept = True, 1, MIB
    await trio.sleep(10)
    autojump_clock.jump(3600)
    await wait_all_tasks_blocked()
    assert [each.ended for each in (fresh, quiet, sending, taking)] == [None] * 4
    fresh.begun = True  # what came meanwhile is read
    for each in (fresh, quiet, sending, taking):
        each.moved += 1
    await trio.sleep(29)
    assert [each.ended for each in (fresh, quiet, sending)] == [None] * 3
    await trio.sleep(5)
    assert [each.ended is not None for each in (fresh, quiet, sending)] == [False, False, True]


@pytest.mark.parametrize(("who", "what"), [("client", "client did not take its answers"), ("broker", "its requests")])
async def test_who_does_not_take_what_is_sent_is_ended_in_time(
    who: str, what: str, connections: set[Connection], autojump_clock: MockClock
) -> None:
    deaf, before = Connection(connections, begun=True), counters.not_taken
    side: Side = getattr(deaf, who)
    side.stalled, side.stalls, side.kept = True, 1, MIB
    for _ in range(30):
        deaf.moved += 1  # a byte now and then
        side.kept -= 1
        await trio.sleep(10)
    assert deaf.ended is None
    await trio.sleep(20)
    assert deaf.ended is not None
    assert deaf.ended[1] is not None
    assert deaf.ended[1].endswith(f"{what} in time (limits.take_time)")
    assert counters.not_taken == before + 1


async def test_a_slow_reader_that_takes_all_now_and_then_stays(
    connections: set[Connection], autojump_clock: MockClock
) -> None:
    slow = Connection(connections, begun=True)
    for number in range(20):
        slow.client.stalled, slow.client.stalls, slow.client.kept = True, number, MIB
        slow.moved += 1
        await trio.sleep(200)
    assert slow.ended is None
