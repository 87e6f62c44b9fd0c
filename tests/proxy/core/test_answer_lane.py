"""A response from the broker, a plugin or the proxy leaves after the steps that plugins take before it."""

from __future__ import annotations

from typing import Any

import pytest

from proxy.core.clock import Clock
from proxy.core.commands import Await, Close, PauseBroker, PauseClient, ResumeBroker, ToBroker, ToClient, Wake
from proxy.core.context import Context
from proxy.core.decisions import Ask, Cut, Decision, Disconnect, Drip, Forward, How, Raw, Reply, Sleep, Steps, Wait
from proxy.core.decorators import before_answer, on_request, on_unsupported
from proxy.core.filters import Filters
from proxy.core.inflight import SLOT
from proxy.core.limits import Limits
from proxy.core.link import Link
from proxy.core.outcome import By, Outcome
from proxy.core.plugin import Plugin
from proxy.core.signal import Signal
from proxy.protocol.api import HEARTBEAT, PRODUCE
from proxy.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from proxy.protocol.messages.find_coordinator import FindCoordinatorRequest
from proxy.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from proxy.testing import FromBroker, FromClient, Playbook, Time, connection, from_broker, from_client
from tests.proxy.core.frames import (
    answering,
    cut,
    heartbeat,
    heartbeat_answer,
    metadata,
    metadata_answer,
    produce,
    produce_answer,
)
from tests.proxy.core.test_decisions import Down, Up
from tests.proxy.core.test_outcome import FUTURE, Watching

SIGNAL = Signal()
HELD = Await(0, SIGNAL)
REPLY = Reply(HeartbeatResponse(error_code=7))


class Holding(Plugin):
    """Holds back responses until a signal, and notes their outcomes."""

    def __init__(self, signal: Signal = SIGNAL) -> None:
        self.signal = signal
        self.told: list[tuple[int, Outcome]] = []

    @before_answer(HEARTBEAT, PRODUCE)
    def hold(self, ctx: Context, outcome: Outcome) -> Steps:
        self.told.append((ctx.correlation_id, outcome))
        yield Wait(self.signal)
        return None


class HoldingAll(Plugin):
    """Holds back every response."""

    @before_answer()
    def hold(self, ctx: Context, outcome: Outcome) -> Steps:
        yield Wait(SIGNAL)
        return None


class Raising(Plugin):
    """Fails on Heartbeats."""

    @on_request(HeartbeatRequest)
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Decision:
        raise ValueError("boom")


READERS: list[list[Plugin]] = [[], [Watching()], [Up(None)], [Up(Forward(HeartbeatResponse(error_code=0)))]]


@pytest.mark.parametrize("others", READERS)
def test_a_brokers_answer_waits_and_what_follows_it_too(others: list[Plugin]) -> None:
    assert (
        Playbook(Holding(), *others)
        >> FromClient(metadata(1) + heartbeat(2) + metadata(3))
        << ToBroker(metadata(1) + heartbeat(2) + metadata(3))
        >> FromBroker(metadata_answer(1) + heartbeat_answer(2) + metadata_answer(3))
        << ToClient(metadata_answer(1))
        << HELD
        << PauseBroker()
        >> FromClient(metadata(4))
        << ToBroker(metadata(4))
        >> Time()
        << ToClient(heartbeat_answer(2) + metadata_answer(3))
        << ResumeBroker()
    )


def test_nothing_of_a_large_answer_leaves_or_is_kept_before_its_time() -> None:
    request, answer = produce(1, acks=1), produce_answer(1)
    first, rest = cut(answer, 9)
    link = Link(connection(), Filters([Holding()]))
    from_client(link, request)
    (held, pause) = from_broker(link, first)
    assert (type(held), pause) == (Await, PauseBroker())
    assert link.held == SLOT + 9
    (sent, *_) = link.wake(held.token)  # type: ignore[union-attr]
    assert bytes(sent.data) == first  # type: ignore[union-attr]
    (sent,) = from_broker(link, rest)
    assert bytes(sent.data) == rest  # type: ignore[union-attr]


@pytest.mark.parametrize(("plugin", "error"), [(Down(REPLY), 7), (Raising(), -1)])
@pytest.mark.parametrize("older", [b"", metadata(1)])
def test_an_answer_of_a_plugin_or_the_proxy_waits_when_it_is_its_turn(plugin: Plugin, error: int, older: bytes) -> None:
    signal = Signal()
    holding = Holding(signal)
    link = Link(connection(), Filters([holding, plugin]))
    tokens: list[int] = []

    def sent(commands: Any) -> bytes:
        tokens.extend(command.token for command in commands if isinstance(command, Await))
        return b"".join(bytes(command.data) for command in commands if isinstance(command, ToClient))

    assert sent(from_client(link, older + heartbeat(2) + metadata(3))) == b""
    if older:
        assert not holding.told
        assert sent(from_broker(link, metadata_answer(1))) == metadata_answer(1)
    assert sent(from_broker(link, metadata_answer(3))) == b""
    ((_, outcome),) = holding.told
    assert outcome.by is (By.PLUGIN if error == 7 else By.PROXY)
    assert sent(link.wake(tokens[0])) == heartbeat_answer(2, error) + metadata_answer(3)


def test_the_outcome_is_told_as_it_will_be() -> None:
    holding, watching, clock = Holding(), Watching(), Clock(1.0)
    link = Link(connection(), Filters([holding, watching]), clock=clock)
    from_client(link, heartbeat(1))
    clock.now = 2.0
    (held, *_) = from_broker(link, heartbeat_answer(1))
    request, answer = len(heartbeat(1)), len(heartbeat_answer(1))
    assert holding.told == [(1, Outcome(By.BROKER, None, 1.0, 1.0, 2.0, None, request, answer))]
    assert watching.told == []
    clock.now = 5.0
    link.wake(held.token)  # type: ignore[union-attr]
    assert watching.told == [(1, Outcome(By.BROKER, None, 1.0, 1.0, 2.0, 5.0, request, answer))]


def test_an_answer_to_what_nobody_knows_waits_too() -> None:
    class Answering(Plugin):
        @on_unsupported(ApiVersionsRequest)
        def unknown(self, ctx: Context) -> Decision:
            return Reply(ApiVersionsResponse(error_code=35, api_keys=[]), version=0)

    answer = answering(ApiVersionsResponse(error_code=35, api_keys=[]), 1, 0)
    assert (
        Playbook(HoldingAll(), Answering(), byte_by_byte=False)
        >> FromClient(FUTURE % b"\0\0\0\1" + metadata(2))
        << ToBroker(metadata(2))
        << HELD
        << PauseBroker()
        >> FromBroker(metadata_answer(2))
        >> Time()
        << ToClient(answer)
        << HELD
        >> Time()
        << ToClient(metadata_answer(2))
        << ResumeBroker()
    )


def test_what_has_no_answer_is_not_held_back() -> None:
    holding = Holding()
    assert (
        Playbook(holding, Up(Raw(b"")))
        >> FromClient(produce(1, acks=0) + heartbeat(2) + metadata(3))
        << ToBroker(produce(1, acks=0) + heartbeat(2) + metadata(3))
        >> FromBroker(heartbeat_answer(2) + metadata_answer(3))
        << ToClient(metadata_answer(3))
    )
    assert not holding.told


def test_a_part_of_an_answer_and_one_that_drips_wait_first() -> None:
    data = heartbeat_answer(1)
    for manner, close in ((Cut(10, "a fault"), [Close("a fault")]), (Drip(10, 2), [])):
        playbook = Playbook(Holding(), Up(manner)) >> FromClient(heartbeat(1)) << ToBroker(heartbeat(1))
        playbook = playbook >> FromBroker(data) << HELD << PauseBroker() >> Time()
        if close:
            playbook = playbook << ToClient(data[:10]) << close[0]
        else:
            playbook = playbook << Wake(0, 2) >> Time() << ToClient(data[:10]) << Wake(0, 2)
            playbook = playbook >> Time() << ToClient(data[10:]) << ResumeBroker()
        assert playbook


def test_several_take_their_steps_one_after_the_other() -> None:
    class Later(Plugin):
        @before_answer(HEARTBEAT)
        def wait(self, ctx: Context, outcome: Outcome) -> Steps:
            yield Sleep(2)
            return None

    class Never(Plugin):
        @before_answer(HEARTBEAT)
        def no_steps(self, ctx: Context, outcome: Outcome) -> None:
            """It takes no steps."""

    for others in ([], [Down(REPLY)]):
        playbook = Playbook(Later(), Never(), Holding(), *others) >> FromClient(heartbeat(1))
        if not others:
            playbook = playbook << ToBroker(heartbeat(1)) >> FromBroker(heartbeat_answer(1, 7))
        assert (
            playbook
            << Wake(0, 2)
            << PauseBroker()
            >> Time()
            << HELD
            >> Time()
            << ToClient(heartbeat_answer(1, 7))
            << ResumeBroker()
        )
        released = Signal()
        released.release()
        playbook = Playbook(Holding(released), Never(), *others, byte_by_byte=False) >> FromClient(heartbeat(1))
        if not others:
            playbook = playbook << ToBroker(heartbeat(1)) >> FromBroker(heartbeat_answer(1, 7))
            assert playbook << ToClient(heartbeat_answer(1, 7))


class Failing(Plugin):
    """Fails before a response leaves, in the given way."""

    def __init__(self, what: Any) -> None:
        self.what = what

    @before_answer(HEARTBEAT)
    def fail(self, ctx: Context, outcome: Outcome) -> Steps:
        if self.what is None:
            raise ValueError("boom")
        yield Sleep(2)
        if isinstance(self.what, Ask):
            yield self.what
        return self.what  # type: ignore[no-any-return]


@pytest.mark.parametrize("others", [[], [Up(None)], [Down(REPLY)]])
@pytest.mark.parametrize("what", [None, Disconnect("no"), Ask(FindCoordinatorRequest())])
def test_an_answer_does_not_leave_where_a_step_before_it_fails(what: Any, others: list[Plugin]) -> None:
    watching = Watching()
    link = Link(connection(), Filters([watching, Failing(what), *others]))
    commands = from_client(link, heartbeat(1))
    if not link.closed and not any(isinstance(each, Wake) for each in commands):
        commands += from_broker(link, heartbeat_answer(1))
    tokens = [command.token for command in commands if isinstance(command, Wake)]
    commands += link.wake(tokens[0]) if tokens else []
    assert link.closed
    assert not any(isinstance(command, ToClient) for command in commands)
    ((_, outcome),) = watching.told
    assert outcome.by is By.NOBODY
    assert str(outcome.why).startswith("Failing.fail failed on a Heartbeat")
    assert ("Failing.fail", "failed", None) in outcome.decisions


@pytest.mark.parametrize("others", [[], [Up(None)], [Down(REPLY)]])
@pytest.mark.parametrize("ends", [Link.client_closed, Link.broker_closed, Link.release])
def test_a_request_whose_answer_waits_ends_with_the_link(others: list[Plugin], ends: Any) -> None:
    watching = Watching()
    link = Link(connection(), Filters([watching, Holding(), *others]))
    from_client(link, heartbeat(1))
    if not others or isinstance(others[0], Up):
        from_broker(link, heartbeat_answer(1))
    assert not watching.told
    ends(link)
    if ends is Link.client_closed:
        assert not link.closed  # its response may still come
        link.release()
    assert watching.by == [(1, By.NOBODY)]


def test_a_black_hole_does_not_wait() -> None:
    class Both(Plugin):
        @on_request(HeartbeatRequest)
        def swallow(self, ctx: Context, request: HeartbeatRequest) -> Decision:
            return Disconnect("a black hole", How.BLACK_HOLE) if ctx.correlation_id == 2 else REPLY

    link = Link(connection(), Filters([Holding(), Both()]))
    from_client(link, heartbeat(1))
    assert link.held
    from_client(link, heartbeat(2))
    assert link.held == 0


def test_the_client_is_read_on_as_far_as_its_requests_may_be_many() -> None:
    link = Link(connection(), Filters([Holding()]), Limits(in_flight=3))
    from_client(link, heartbeat(1))
    (held, _) = from_broker(link, heartbeat_answer(1))
    sent = [type(each) for number in (2, 3, 4, 5) for each in from_client(link, metadata(number))]
    assert sent == [ToBroker, ToBroker, PauseClient]
    assert len(link.inflight.slots) == 3
    assert [type(each) for each in link.wake(held.token)][:1] == [ToClient]  # type: ignore[union-attr]
