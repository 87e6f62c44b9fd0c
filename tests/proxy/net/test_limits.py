from __future__ import annotations

from dataclasses import dataclass, field

import pytest
import trio
from trio.testing import MockClock

from proxy.config import Limits
from proxy.net.limits import enforce
from proxy.telemetry.counters import Counters

LIMITS = Limits.model_validate({"first_frame": "30s", "idle": "10m"})
counters = Counters()


@dataclass(eq=False)
class Connection:
    """A connection of which only the times matter."""

    among: set[Connection]
    begun: bool = False
    opened: float = field(default_factory=trio.current_time)
    active: float = field(default_factory=trio.current_time)
    ended: tuple[float, str | None] | None = None

    def __post_init__(self) -> None:
        self.among.add(self)

    def abort(self, reason: str | None = None) -> None:
        self.ended = trio.current_time() - self.opened, reason
        self.among.remove(self)


@pytest.fixture
async def connections(nursery: trio.Nursery) -> set[Connection]:
    found: set[Connection] = set()
    nursery.start_soon(enforce, LIMITS, found, counters)
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


async def test_whoever_says_something_now_and_then_stays(
    connections: set[Connection], autojump_clock: MockClock
) -> None:
    lively = Connection(connections, begun=True)
    for _ in range(10):
        await trio.sleep(500)
        lively.active = trio.current_time()
    assert lively.ended is None


async def test_bytes_that_are_no_request_yet_do_not_buy_time(
    connections: set[Connection], autojump_clock: MockClock
) -> None:
    dripping = Connection(connections)
    for _ in range(35):
        dripping.active = trio.current_time()
        await trio.sleep(1)
    assert dripping.ended is not None
