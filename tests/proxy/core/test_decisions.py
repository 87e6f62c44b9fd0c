"""Decisions beyond messages: raw bytes, a cut in the middle, resets, half-closes, and waiting for a signal."""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from typing import Any
from weakref import ref

import pytest

from proxy.core.commands import Await, Close, Emit, HalfClose, PauseClient, ResumeClient, ToBroker, ToClient
from proxy.core.context import Context
from proxy.core.decisions import Ask, Cut, Decision, Disconnect, Drip, Forward, How, Raw, Reply, Sleep, Steps, Wait
from proxy.core.decorators import on_request, on_response
from proxy.core.events import HandlerFailed
from proxy.core.filters import Filters
from proxy.core.link import Link
from proxy.core.outcome import By
from proxy.core.plugin import Plugin
from proxy.core.signal import Signal
from proxy.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from proxy.testing import ClientCloses, FromBroker, FromClient, Playbook, Time, connection, from_broker, from_client
from tests.proxy.core.frames import heartbeat, heartbeat_answer, metadata, metadata_answer
from tests.proxy.core.test_outcome import Watching

ODD = b"not at all a frame"


class Waiter:
    """Waits for a signal."""


class Down(Plugin):
    """Makes this decision on Heartbeats."""

    def __init__(self, decision: Decision) -> None:
        self.decision = decision

    @on_request(HeartbeatRequest)
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Decision:
        return self.decision


class Mistaken(Plugin):
    """Makes a step with a wrong value on Heartbeats."""

    def __init__(self, step: Callable[[], Any]) -> None:
        self.step = step

    @on_request(HeartbeatRequest)
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Steps:
        yield self.step()
        return None


class Up(Plugin):
    """Makes this decision on Heartbeat responses."""

    def __init__(self, decision: Decision) -> None:
        self.decision = decision

    @on_response(HeartbeatResponse)
    def heartbeat(self, ctx: Context, response: HeartbeatResponse) -> Decision:
        return self.decision


class Holding(Plugin):
    """Holds Heartbeats, or their responses, until the signal."""

    def __init__(self, signal: Signal) -> None:
        self.signal = signal

    @on_request(HeartbeatRequest)
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Steps:
        yield Wait(self.signal)
        return None


def test_bytes_may_take_the_place_of_a_request_and_its_answer_is_waited_for() -> None:
    assert (
        Playbook(Down(Raw(ODD)))
        >> FromClient(heartbeat(1) + metadata(2))
        << ToBroker(ODD + metadata(2))
        >> FromBroker(heartbeat_answer(1) + metadata_answer(2))
        << ToClient(heartbeat_answer(1) + metadata_answer(2))
    )


def test_bytes_may_take_the_place_of_an_answer() -> None:
    assert (
        Playbook(Up(Raw(ODD)))
        >> FromClient(metadata(1) + heartbeat(2) + metadata(3))
        << ToBroker(metadata(1) + heartbeat(2) + metadata(3))
        >> FromBroker(metadata_answer(1) + heartbeat_answer(2) + metadata_answer(3))
        << ToClient(metadata_answer(1) + ODD + metadata_answer(3))
    )


def test_bytes_may_take_the_place_of_a_reply() -> None:
    reply = Reply(HeartbeatResponse(error_code=1))
    assert (
        Playbook(Up(Raw(ODD)), Down(reply))
        >> FromClient(heartbeat(1) + metadata(2))
        << ToBroker(metadata(2))
        << ToClient(ODD)
    )


@pytest.mark.parametrize("how", [How.CLOSE, How.RESET])
def test_a_request_may_be_cut_in_the_middle(how: How) -> None:
    assert (
        Playbook(Down(Cut(7, "a fault", how)), byte_by_byte=False)
        >> FromClient(metadata(1))
        << ToBroker(metadata(1))
        >> FromBroker(metadata_answer(1))
        << ToClient(metadata_answer(1))
        >> FromClient(heartbeat(2))
        << ToBroker(heartbeat(2)[:7])
        << PauseClient()
        << Close("a fault", how is How.RESET)
    )


@pytest.mark.parametrize("how", [How.CLOSE, How.RESET])
def test_an_answer_may_be_cut_in_the_middle(how: How) -> None:
    assert (
        Playbook(Up(Cut(9, "a fault", how)))
        >> FromClient(metadata(1) + heartbeat(2))
        << ToBroker(metadata(1) + heartbeat(2))
        >> FromBroker(metadata_answer(1) + heartbeat_answer(2))
        << ToClient(metadata_answer(1) + heartbeat_answer(2)[:9])
        << Close("a fault", how is How.RESET)
    )


def test_a_reply_may_be_cut_in_the_middle() -> None:
    reply = Reply(HeartbeatResponse(error_code=1))
    assert (
        Playbook(Up(Cut(9, "a fault")), Down(reply))
        >> FromClient(heartbeat(1))
        << ToClient(heartbeat_answer(1, 1)[:9])
        << PauseClient()
        << Close("a fault")
    )


def test_a_reset_does_not_wait_for_older_answers() -> None:
    assert (
        Playbook(Down(Disconnect("a fault", How.RESET)))
        >> FromClient(metadata(1) + heartbeat(2))
        << ToBroker(metadata(1))
        << PauseClient()
        << Close("a fault", reset=True)
    )


@pytest.mark.parametrize("plugin", [Down, Up])
def test_half_a_close_lets_the_client_go_on_sending(plugin: type[Any]) -> None:
    link = Link(connection(), Filters([plugin(Disconnect("a fault", How.HALF_CLOSE))]))
    commands = from_client(link, heartbeat(1))
    if plugin is Up:
        commands = from_broker(link, heartbeat_answer(1))
    assert HalfClose() in commands
    assert not any(isinstance(command, Close | ToClient) for command in commands)
    assert not any(isinstance(command, ToClient) for command in from_client(link, metadata(2)))
    assert link.client_closed()[-1] == Close(None)


def test_half_a_close_lets_older_answers_out_first() -> None:
    assert (
        Playbook(Down(Disconnect("a fault", How.HALF_CLOSE)))
        >> FromClient(metadata(1) + heartbeat(2))
        << ToBroker(metadata(1))
        << PauseClient()
        >> FromBroker(metadata_answer(1))
        << ToClient(metadata_answer(1))
        << HalfClose()
        >> ClientCloses()
        << Close(None)
    )


def test_a_handler_may_wait_for_a_signal() -> None:
    signal = Signal()
    assert (
        Playbook(Holding(signal))
        >> FromClient(heartbeat(1) + metadata(2))
        << Await(0, signal)
        << PauseClient()
        >> Time()
        << ToBroker(heartbeat(1) + metadata(2))
        << ResumeClient()
    )


def test_a_signal_that_was_released_holds_nobody() -> None:
    signal = Signal()
    signal.release()
    assert Playbook(Holding(signal)) >> FromClient(heartbeat(1)) << ToBroker(heartbeat(1))


def test_whoever_waits_for_a_signal_is_told_once() -> None:
    signal, told, waiter = Signal(), [], Waiter()
    signal.on_release(waiter, lambda who: told.append((1, who)))
    assert not told
    signal.release()
    signal.release()
    signal.on_release(waiter, lambda who: told.append((2, who)))
    assert told == [(1, waiter), (2, waiter)]


def test_a_signal_keeps_nothing_of_whoever_is_gone_before_its_release() -> None:
    def go_on(who: Waiter) -> None:
        raise AssertionError("nobody is there")

    signal, waiter, kept = Signal(), Waiter(), ref(go_on)
    signal.on_release(waiter, go_on)
    del waiter, go_on
    assert kept() is None
    signal.release()


@pytest.mark.parametrize(
    ("decision", "by"), [(Raw(ODD), By.BROKER), (Cut(3, "a fault"), By.NOBODY), (Disconnect("a fault"), By.NOBODY)]
)
@pytest.mark.parametrize("plugin", [Down, Up])
def test_each_has_one_outcome(plugin: type[Any], decision: Decision, by: By) -> None:
    watching = Watching()
    link = Link(connection(), Filters([plugin(decision), watching]))
    from_client(link, heartbeat(1))
    if not link.closed:
        from_broker(link, heartbeat_answer(1))
    assert watching.by == [(1, by)]


@pytest.mark.parametrize(
    ("manner", "told"),
    [
        (Raw(ODD), (By.PLUGIN, "Down.heartbeat", len(ODD))),
        (Raw(b""), (By.NOBODY, "Up.heartbeat", 0)),
        (Cut(9, "a fault"), (By.NOBODY, "a fault", 0)),
    ],
)
def test_an_answer_of_a_plugin_that_is_cut_or_dropped_is_none(manner: Decision, told: tuple[By, str, int]) -> None:
    watching = Watching()
    reply = Reply(HeartbeatResponse(error_code=7))
    from_client(Link(connection(), Filters([Up(manner), Down(reply), watching])), heartbeat(1))
    ((_, outcome),) = watching.told
    assert (outcome.by, outcome.why, outcome.response_bytes) == told


WRONG: Any = "x"
MISTAKES: list[tuple[Callable[[], Any], str]] = [
    (lambda: Sleep(nan), "Sleep: nan is no number of seconds"),  # trio takes none: the proxy would end
    (lambda: Sleep(WRONG), "Sleep: 'x' is no number of seconds"),
    (lambda: Sleep(1, unless=WRONG), "Sleep: 'x' is no Signal"),
    (lambda: Wait(WRONG), "Wait: 'x' is no Signal"),
    (lambda: Ask(WRONG), "Ask: 'x' is no request"),
    (lambda: Drip(1, nan), "Drip: nan is no number of seconds"),
    (lambda: Drip(WRONG, 1), "Drip: 'x' is no number of bytes"),
    (lambda: Cut(WRONG, "a fault"), "Cut: 'x' is no number of bytes"),
    (lambda: Cut(1, "a fault", WRONG), "Cut: 'x' is no How"),
    (lambda: Disconnect("a fault", how=WRONG), "Disconnect: 'x' is no How"),
    (lambda: Raw(WRONG), "Raw: 'x' is neither bytes nor a function"),
    (
        lambda: Forward(HeartbeatRequest(group_id="g", generation_id=1, member_id="m"), version=WRONG),
        "'x' is no version",
    ),
]


@pytest.mark.parametrize(("make", "told"), MISTAKES)
def test_a_wrong_value_is_a_mistake_of_the_handler_that_gives_it(make: Callable[[], Any], told: str) -> None:
    link = Link(connection(), Filters([Mistaken(make)]))
    commands = from_client(link, heartbeat(1))
    (failed,) = [command.event for command in commands if isinstance(command, Emit)]
    assert isinstance(failed, HandlerFailed)
    assert failed.handler == "Mistaken.heartbeat"
    assert failed.at.startswith(__file__), failed.at  # the line that its author has to mend
    assert told in str(failed.error)
    assert not link.closed
