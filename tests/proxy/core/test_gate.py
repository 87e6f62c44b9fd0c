"""The gate: messages that pass, messages that wait, and work that runs beside a conversation."""

from typing import Any

import pytest

from proxy.core.commands import Close, Emit, PauseClient, ResumeClient, ToBroker, ToClient, Wake
from proxy.core.context import Connection, Context
from proxy.core.decisions import Alone, Ask, Disconnect, Sleep, Steps
from proxy.core.decorators import on_request
from proxy.core.events import StepsFailed
from proxy.core.filters import Filters
from proxy.core.link import Link
from proxy.core.plugin import Plugin
from proxy.protocol.api import METADATA
from proxy.protocol.frame import HOLD, Reader
from proxy.protocol.messages.heartbeat import HeartbeatRequest
from proxy.testing import ANY, ClientCloses, FromBroker, FromClient, Playbook, Time, connection
from tests.proxy.core.frames import asking, cut, heartbeat, heartbeat_answer, metadata, produce, produce_answer

OURS = HeartbeatRequest(group_id="ours", generation_id=1, member_id="m")


class Beside(Plugin):
    """Sends the broker its own request, after a while, between two requests."""

    def connected(self, connection: Connection) -> Steps:
        yield Sleep(9)
        yield Alone()
        yield Ask(OURS, 4)
        connection.gate.leave()
        return None


class Slow(Plugin):
    """Holds up Heartbeats for a while."""

    @on_request(HeartbeatRequest)
    def beat(self, ctx: Context, request: HeartbeatRequest) -> Steps:
        yield Sleep(5)
        return None


def held_up(beside: Plugin) -> Playbook:
    """A Heartbeat still waits for its handlers when the steps beside it want to be alone. Then it leaves."""
    return (
        Playbook(beside, Slow(), byte_by_byte=False)
        >> FromClient(heartbeat(1))
        << Wake(0, 5)
        << PauseClient()
        >> Time(0)
        >> Time(1)
        << ToBroker(heartbeat(1))
    )


class Narrow(Plugin):
    """Lets only Metadata pass."""

    def connected(self, connection: Connection) -> None:
        connection.gate.narrow([METADATA], lambda head: self.strange(connection))

    def strange(self, connection: Connection) -> Reader | None:
        connection.gate.wait()
        return HOLD


class Ends(Plugin):
    """Ends the conversation after a while, in the given way."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    def connected(self, connection: Connection) -> Steps:
        yield Sleep(9)
        if self.error:
            raise self.error
        return Disconnect("time is up")


class Fails(Plugin):
    """Raises at once."""

    def connected(self, connection: Connection) -> None:
        raise ValueError("boom")


def ours(client_id: str | None = None) -> bytes:
    return asking(OURS, 0, client_id=client_id)


def test_of_two_that_ask_beside_the_conversation_each_has_its_turn() -> None:
    assert (
        Playbook(Beside(), Beside(), byte_by_byte=False)
        >> Time(0)
        << ToBroker(ours())
        >> Time(1)
        >> FromClient(heartbeat(1))
        << PauseClient()
        >> FromBroker(heartbeat_answer(0))
        << ToBroker(ours())
        >> FromBroker(heartbeat_answer(0))
        << ToBroker(heartbeat(1))
        << ResumeClient()
    )


def test_a_question_beside_the_conversation_holds_up_what_comes_after_it() -> None:
    assert (
        Playbook(Beside(), byte_by_byte=False)
        >> FromClient(heartbeat(1))
        << ToBroker(heartbeat(1))
        >> Time()
        << ToBroker(ours())
        >> FromClient(heartbeat(2))
        << PauseClient()
        >> FromBroker(heartbeat_answer(1))
        << ToClient(heartbeat_answer(1))
        >> FromBroker(heartbeat_answer(0))
        << ToBroker(heartbeat(2))
        << ResumeClient()
        >> FromBroker(heartbeat_answer(2))
        << ToClient(heartbeat_answer(2))
    )


def test_it_waits_for_the_end_of_a_request_that_is_passing() -> None:
    begin, end = cut(produce(1, 1, b"r" * 50), 60)
    assert (
        Playbook(Beside(), byte_by_byte=False)
        >> FromClient(begin)
        << ToBroker(begin)
        >> Time()
        >> FromClient(end + heartbeat(2))
        << ToBroker(end + ours("app"))
        << PauseClient()
        >> FromBroker(produce_answer(1) + heartbeat_answer(0))
        << ToBroker(heartbeat(2))
        << ToClient(produce_answer(1))
        << ResumeClient()
    )


def test_it_waits_for_a_request_that_waits_for_its_handlers() -> None:
    assert (
        held_up(Beside())
        << ResumeClient()
        << ToBroker(ours("app"))
        >> FromClient(heartbeat(2))
        << PauseClient()
        >> FromBroker(heartbeat_answer(1) + heartbeat_answer(0))
        << ToClient(heartbeat_answer(1))
        << Wake(0, 5)
    )


def test_what_waits_to_be_alone_is_dropped_with_its_link() -> None:
    begin, _ = cut(produce(1, 1, b"r" * 50), 60)
    assert (
        Playbook(Beside(), byte_by_byte=False)
        >> FromClient(begin)
        << ToBroker(begin)
        >> Time()
        >> ClientCloses()
        << (Close(None))
    )


def test_a_narrow_gate_knows_only_some_requests() -> None:
    assert (
        Playbook(Narrow())
        >> FromClient(metadata(1))
        << ToBroker(metadata(1))
        >> FromClient(heartbeat(2)[:12])
        << PauseClient()
    )


def test_steps_may_end_the_conversation() -> None:
    assert Playbook(Ends()) >> Time() << Close("time is up")


def test_steps_that_raise_end_the_conversation() -> None:
    book = Playbook(Ends(ValueError("boom"))) >> Time()
    with pytest.raises(AssertionError, match=r"Emit.*StepsFailed.*boom"):
        assert book
    assert Emit(StepsFailed("x", ValueError())) != Wake(0, 1)


def test_the_reason_is_told() -> None:
    assert Playbook(Ends()) >> Time() << Close(ANY)


def test_a_plugin_that_fails_when_a_client_comes_ends_that_conversation() -> None:
    link = Link(connection(), Filters([Fails()]))
    emit, close = link.begin()
    assert isinstance(emit, Emit)
    assert isinstance(emit.event, StepsFailed)
    assert (emit.event.steps, repr(emit.event.error)) == ("Fails.connected", "ValueError('boom')")
    assert close == Close("Fails.connected failed")


def test_a_plugin_that_returns_no_steps_when_a_client_comes_is_named() -> None:
    class Mistaken(Fails):
        def connected(self, connection: Connection) -> Any:
            return "x"

    link = Link(connection(), Filters([Mistaken()]))
    emit, close = link.begin()
    assert isinstance(emit, Emit)
    assert isinstance(emit.event, StepsFailed)
    assert emit.event.steps.endswith("Mistaken.connected")
    assert type(emit.event.error).__name__ == "NoStepsError"  # the log has the type, and not the text
    assert close == Close(f"{emit.event.steps} failed")
