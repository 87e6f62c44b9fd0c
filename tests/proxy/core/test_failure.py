from __future__ import annotations

import json
import json.decoder
import sys
from functools import partial

import pytest
import trio
from greenlet import GreenletExit

from proxy.core.arrival import Arrival
from proxy.core.commands import Emit, Wake
from proxy.core.context import Connection, Context
from proxy.core.decisions import TURN, Call, Decision, Disconnect, Raw, Sleep, Steps
from proxy.core.decorators import (
    before_answer,
    observe,
    observe_topics,
    on_event,
    on_outcome,
    on_request,
    on_unreadable,
    on_unsupported,
)
from proxy.core.events import Connected, HandlerFailed, ObserverFailed, StepsFailed
from proxy.core.failure import FAILURES, detached, name_of, raised_at, raised_outside
from proxy.core.filters import Filters
from proxy.core.lane import State
from proxy.core.link import Link
from proxy.core.outcome import Outcome
from proxy.core.plugin import Plugin
from proxy.core.steps import HandlerError, arrival_steps
from proxy.protocol.api import HEARTBEAT
from proxy.protocol.messages.api_versions import ApiVersionsRequest
from proxy.protocol.messages.heartbeat import HeartbeatRequest
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.messages.produce import ProduceRequest
from proxy.protocol.slices import LARGE
from proxy.testing import connection, from_broker, from_client
from proxy.testing.lending import performed, with_turns
from tests.proxy.core.frames import heartbeat, heartbeat_answer, metadata, produce


def failing() -> ValueError:
    """An error with a traceback of several frames, raised from another error."""
    try:
        try:
            raise KeyError("first")
        except KeyError as first:
            raise ValueError("second") from first
    except ValueError as error:
        return error


def test_where_an_error_was_raised_is_known() -> None:
    file, _, line = raised_at(failing()).rpartition(":")
    assert file == __file__
    assert line.isdecimal()
    assert raised_at(ValueError()) == ""


def test_a_mistake_that_our_own_code_finds_is_told_with_the_line_outside_of_it() -> None:
    with pytest.raises(TypeError) as error:
        on_request(MetadataRequest, fields="topic")
    assert raised_outside(error.value).rpartition(":")[0] == __file__
    assert raised_at(error.value).rpartition(":")[0] == on_request.__code__.co_filename
    assert raised_outside(ValueError()) == ""


def test_the_line_of_a_handler_comes_before_that_of_another_file_in_which_it_failed() -> None:
    def handler(text: str) -> object:
        return json.loads(text)

    for called in (handler, partial(handler)):
        with pytest.raises(ValueError, match="Expecting property name") as error:
            called("{")
        own, raised = raised_at(error.value, called).split(" > ")
        assert own == f"{__file__}:{handler.__code__.co_firstlineno + 1}"
        assert raised.startswith(json.decoder.__file__)
    with pytest.raises(ValueError, match="second") as error:
        raise failing()
    assert raised_at(error.value, failing) == raised_at(error.value)


def test_whatever_was_called_has_a_name() -> None:
    class Called:
        def __call__(self) -> None: ...

    assert name_of(failing) == name_of(partial(partial(failing), 1)) == "failing"
    assert name_of(Called()).endswith("Called")


def test_a_detached_error_holds_nothing_but_what_it_says() -> None:
    error = failing()
    assert detached(error) is error
    assert str(error) == "second"
    assert error.__traceback__ is error.__context__ is error.__cause__ is None


class Exiting(Plugin):
    """Calls `sys.exit()` in one of its methods."""

    def __init__(self, at: str) -> None:
        self.at = at

    def exits(self, here: str) -> None:
        if here == self.at:
            sys.exit("no licence")

    def accepted(self, arrival: Arrival) -> Decision:
        self.exits("accepted")
        return None

    def connected(self, connection: Connection) -> Steps | None:
        self.exits("connected")
        return self.beside()

    def beside(self) -> Steps:
        yield Sleep(1)
        self.exits("beside")
        return None

    @on_event(Connected)
    def happened(self, connection: Connection, event: Connected) -> None:
        self.exits("happened")

    @on_request(HeartbeatRequest)
    def handled(self, ctx: Context, request: HeartbeatRequest) -> Decision:
        self.exits("handled")
        return Raw(self.written) if self.at == "written" else None

    def written(self, frame: bytes) -> bytes:
        self.exits("written")
        return frame

    @on_request(MetadataRequest)
    def stepped(self, ctx: Context, request: MetadataRequest) -> Steps:
        yield TURN
        self.exits("stepped")
        yield Call(partial(self.exits, "called"))
        return None

    @observe(HeartbeatRequest)
    def shown(self, ctx: Context, request: HeartbeatRequest) -> None:
        self.exits("shown")

    @observe_topics(ProduceRequest)
    def topics(self, ctx: Context, topics: object) -> None:
        self.exits("topics")

    @on_outcome(HEARTBEAT)
    def ended(self, ctx: Context, outcome: Outcome) -> None:
        self.exits("ended")

    @before_answer(HEARTBEAT)
    def held_back(self, ctx: Context, outcome: Outcome) -> Steps | None:
        self.exits("held_back")
        return None

    @on_unsupported(ApiVersionsRequest)
    def unknown(self, ctx: Context) -> Decision:
        self.exits("unknown")
        return Disconnect("unknown")

    @on_request(ApiVersionsRequest)
    def read(self, ctx: Context, request: ApiVersionsRequest) -> Decision:
        return None

    @on_unreadable(ApiVersionsRequest)
    def unread(self, ctx: Context) -> Steps | None:
        self.exits("unread")
        return None


UNKNOWN = b"\0\0\0\x0c\0\x12\0\x63\0\0\0\7\0\0\0\0"  # an ApiVersions request of version 99
UNREADABLE = b"\0\0\0\x0c\0\x12\0\x05\0\0\0\7\0\0\0\x7f"


def told(plugin: Plugin, *frames: bytes) -> list[str]:
    """The methods that failed, as the events say, when a client sends these and the broker answers what it gets."""
    link = Link(connection(), Filters([plugin]))
    commands = link.begin()
    for frame in frames:
        commands += performed(link, with_turns(link, from_client(link, frame))[0])
    if not link.closed and link.requests.state is not State.ENDED:
        commands += from_broker(link, heartbeat_answer(1))
    commands += [one for wake in commands if isinstance(wake, Wake) and wake.seconds for one in link.wake(wake.token)]
    failed = []
    for command in commands:
        match command:
            case Emit(HandlerFailed(name) | ObserverFailed(name) | StepsFailed(name)):
                failed.append(name.partition(".")[2])
    return failed


@pytest.mark.parametrize(
    ("at", "sent", "named"),
    [
        ("connected", heartbeat(1), "connected"),
        ("beside", heartbeat(1), "beside"),
        ("happened", heartbeat(1), "happened"),
        ("handled", heartbeat(1), "handled"),
        ("handled", heartbeat(1, "g" * (LARGE + 1)), "handled"),
        ("written", heartbeat(1), "written"),
        ("stepped", metadata(1), "stepped"),
        ("called", metadata(1), "stepped"),
        ("shown", heartbeat(1), "shown"),
        ("topics", produce(1, acks=1), "topics"),
        ("ended", heartbeat(1), "ended"),
        ("held_back", heartbeat(1), "held_back"),
        ("unknown", UNKNOWN, "unknown"),
        ("unread", UNREADABLE, "unread"),
    ],
    ids=lambda each: each if isinstance(each, str) else f"{len(each)}B",
)
def test_an_exit_in_a_method_of_a_plugin_is_its_failure(at: str, sent: bytes, named: str) -> None:
    assert told(Exiting(at), sent) == [named]


def test_an_exit_when_a_client_is_accepted_is_a_failure_of_the_plugin() -> None:
    with pytest.raises(HandlerError, match=r"Exiting\.accepted"):
        list(
            arrival_steps(Filters([Exiting("accepted")]).accepted, Arrival(("192.0.2.1", 50000), "clients", "main", 2))
        )


@pytest.mark.parametrize("ending", [KeyboardInterrupt, GeneratorExit, GreenletExit, trio.Cancelled])
def test_what_ends_more_than_a_plugin_is_no_failure(ending: type[BaseException]) -> None:
    assert not issubclass(ending, FAILURES)
