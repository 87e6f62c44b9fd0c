"""A playbook passes where the conversation goes as written, and shows the first difference otherwise."""

from __future__ import annotations

import pytest

from proxy.core.commands import PauseClient, ResumeClient
from proxy.core.context import Connection, Context
from proxy.core.decisions import Alone, Ask, Call, Decision, Reply, Steps
from proxy.core.decorators import on_request
from proxy.core.plugin import Plugin
from proxy.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from proxy.testing import (
    ANY,
    BrokerCloses,
    ClientCloses,
    Close,
    FromBroker,
    FromClient,
    Playbook,
    ToBroker,
    ToClient,
)
from tests.proxy.core.frames import heartbeat, heartbeat_answer, metadata


class Answering(Plugin):
    """Answers heartbeats itself."""

    @on_request(HeartbeatRequest)
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Decision:
        ctx.connection.client_id = "seen"
        return Reply(HeartbeatResponse(error_code=27))


def test_a_conversation_that_goes_as_written_holds() -> None:
    assert (
        Playbook(Answering())
        >> FromClient(metadata(1) + heartbeat(2))
        << ToBroker(metadata(1))
        >> BrokerCloses()
        << Close(ANY)
    )


def test_bytes_of_one_side_are_one_piece() -> None:
    assert Playbook() >> FromClient(heartbeat(1) + heartbeat(2)) << ToBroker(heartbeat(1)) << ToBroker(heartbeat(2))


@pytest.mark.parametrize("expected", [[], [ToBroker(heartbeat(1))], [ToClient(heartbeat_answer(1, 26))]])
def test_another_way_is_told_with_what_came_instead(expected: list[ToBroker | ToClient]) -> None:
    book = Playbook(Answering()) >> FromClient(heartbeat(1))
    for command in expected:
        book = book << command
    with pytest.raises(AssertionError) as raised:
        assert book
    told = str(raised.value)
    assert told.startswith("the conversation took another way")
    assert ">> FromClient Heartbeat v4 #1" in told
    assert "!! ToClient #1" in told


class Calling(Plugin):
    """Calls what fails, then what does not, before a heartbeat goes on."""

    @on_request(HeartbeatRequest)
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Steps:
        try:
            yield Call(lambda: 1 // 0)
        except ZeroDivisionError:
            return Reply(HeartbeatResponse(error_code=(yield Call(lambda: 27))))
        return None


def test_calls_are_made_at_once() -> None:
    assert (
        Playbook(Calling())
        >> FromClient(heartbeat(1))
        << ToClient(heartbeat_answer(1, 27))
        << PauseClient()
        << ResumeClient()
    )


def test_what_is_known_of_the_connection_can_be_looked_at() -> None:
    book = Playbook(Answering()) >> FromClient(heartbeat(1)) << ToClient(heartbeat_answer(1, 27))
    assert book
    assert book.connection.client_id == "seen"


def test_a_side_that_leaves_is_an_event_too() -> None:
    assert (
        Playbook()
        >> FromClient(heartbeat(1))
        << ToBroker(heartbeat(1))
        >> ClientCloses()
        >> FromBroker(heartbeat_answer(1))
        << ToClient(heartbeat_answer(1))
        << Close()
    )


class Asking(Plugin):
    """Asks the broker before the client does."""

    def connected(self, connection: Connection) -> Steps:
        yield Alone()
        yield Ask(HeartbeatRequest(group_id="g", generation_id=1, member_id="m"), 4)
        connection.gate.leave()
        return None


def test_what_a_plugin_does_when_a_client_connects_comes_before_the_commands_for_the_first_event() -> None:
    book = Playbook(Asking()) >> FromClient(heartbeat(1))
    with pytest.raises(AssertionError, match="!! ToBroker Heartbeat v4"):
        assert book
