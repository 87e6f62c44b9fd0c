"""Plugins' decisions about an accepted client take effect before there is a link."""

from __future__ import annotations

import socket
import sys
from collections.abc import Generator, Iterator
from typing import Any

import pytest
import trio
import trio.testing

from proxy.core.decisions import TURN, Alone, Ask, Call, Disconnect, How, Sleep, Step, Wait
from proxy.core.driving import StepDriver
from proxy.core.signal import Signal
from proxy.net.admitting import Admitted, admit, take
from proxy.protocol.messages.heartbeat import HeartbeatRequest

HEARTBEAT = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """A client's socket, and ours."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection(server.getsockname())
        ours, _ = server.accept()
    ours.setblocking(False)
    with client, ours:
        yield client, ours


def deciding(decision: Admitted, *steps: Step) -> Generator[Step, Any, Admitted]:
    yield from steps
    return decision


async def taken(steps: Generator[Step, Any, Any]) -> Any:
    driver = StepDriver(steps)
    assert driver.advance(), "nothing is waited for"
    return await take(driver)


async def test_steps_are_taken_one_after_the_other(autojump_clock: trio.testing.MockClock) -> None:
    told: list[object] = []

    def steps() -> Generator[Step, Any, str]:
        began = trio.current_time()
        yield Sleep(3)
        told.append(trio.current_time() - began)
        yield TURN
        told.append((yield Call(lambda: "called")))
        for fails in (lambda: 1 // 0, sys.exit):
            try:
                yield Call(fails)
            except (ZeroDivisionError, SystemExit):
                told.append("raised")
        return "done"

    assert await taken(steps()) == "done"
    assert told == [3, "called", "raised", "raised"]


async def test_a_signal_lets_them_go_on() -> None:
    signal = Signal()

    async def release() -> None:
        await trio.testing.wait_all_tasks_blocked()
        signal.release()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(release)
        assert await taken(deciding(None, Wait(signal))) is None
    assert await taken(deciding(None, Wait(signal), Sleep(1e6, unless=signal))) is None


async def test_a_sleep_ends_without_its_signal(autojump_clock: trio.testing.MockClock) -> None:
    assert await taken(deciding(None, Sleep(60, unless=Signal()))) is None
    assert trio.current_time() >= 60


@pytest.mark.parametrize("step", [Ask(HEARTBEAT), Alone()])
async def test_there_is_no_broker_to_ask(step: Step) -> None:
    with pytest.raises(TypeError, match="is no step for a client that was accepted"):
        await taken(deciding(None, step))


async def test_a_client_may_come_or_not(pair: tuple[socket.socket, socket.socket]) -> None:
    refusal = Disconnect("not today")
    assert await admit(pair[1], deciding(None), 10) is None
    assert await admit(pair[1], deciding(refusal), 10) is refusal


async def test_a_reset_is_one_for_the_client(pair: tuple[socket.socket, socket.socket]) -> None:
    client, ours = pair
    await admit(ours, deciding(Disconnect("down", How.RESET)), 10)
    ours.close()
    with pytest.raises(ConnectionResetError):
        client.recv(1)


@pytest.mark.parametrize("how", [How.BLACK_HOLE, How.HALF_CLOSE])
async def test_a_client_that_gets_no_answer_is_kept_until_it_leaves(
    how: How, pair: tuple[socket.socket, socket.socket]
) -> None:
    client, ours = pair
    ended = trio.Event()

    async def hold() -> None:
        await admit(ours, deciding(Disconnect("a black hole", how)), 10)
        ended.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(hold)
        client.sendall(b"hello" * 100_000)  # is taken
        await trio.testing.wait_all_tasks_blocked()
        client.settimeout(0.01)
        if how is How.HALF_CLOSE:
            assert client.recv(1) == b""
        else:
            with pytest.raises(TimeoutError):
                client.recv(1)
        assert not ended.is_set()
        client.close()
        with trio.fail_after(60):
            await ended.wait()


async def test_a_client_that_sends_nothing_is_not_kept_for_ever(
    pair: tuple[socket.socket, socket.socket], autojump_clock: trio.testing.MockClock
) -> None:
    began = trio.current_time()
    await admit(pair[1], deciding(Disconnect("a black hole", How.BLACK_HOLE)), 10)
    assert trio.current_time() - began == 10
    decision = await admit(pair[1], deciding(None, Wait(Signal())), 10)
    assert isinstance(decision, Disconnect)
    assert decision.reason == "a plugin did not decide within 10 s (limits.idle)"


async def test_a_client_that_leaves_is_not_waited_for(pair: tuple[socket.socket, socket.socket]) -> None:
    client, ours = pair
    client.close()
    with trio.fail_after(60):
        decision = await admit(ours, deciding(None, Wait(Signal())), 1000)
    assert isinstance(decision, Disconnect)


async def test_a_client_that_says_something_first_is_waited_for(
    pair: tuple[socket.socket, socket.socket], autojump_clock: trio.testing.MockClock
) -> None:
    client, ours = pair
    client.sendall(b"hello")
    assert await admit(ours, deciding(None, Sleep(5)), 1000) is None
    assert ours.recv(5) == b"hello"


class Spawned(trio.abc.Instrument):
    """Counts tasks that begin."""

    def __init__(self) -> None:
        self.count = 0

    def task_spawned(self, task: trio.lowlevel.Task) -> None:
        self.count += 1


async def test_who_decides_at_once_needs_no_task(pair: tuple[socket.socket, socket.socket]) -> None:
    spawned = Spawned()
    trio.lowlevel.add_instrument(spawned)
    assert await admit(pair[1], deciding(None), 10) is None
    assert spawned.count == 0
    assert await admit(pair[1], deciding(None, Sleep(0)), 10) is None
    assert spawned.count > 0
