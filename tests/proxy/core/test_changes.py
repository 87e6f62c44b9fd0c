"""New filters and limits come into force during a conversation: each request ends under those it began with."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from proxy.core.commands import (
    Close,
    Emit,
    PauseBroker,
    PauseClient,
    ResumeBroker,
    ResumeClient,
    ToBroker,
    ToClient,
    Wake,
)
from proxy.core.context import Connection, Context
from proxy.core.decisions import Alone, Ask, Decision, Forward, Reply, Sleep, Steps
from proxy.core.decorators import on_outcome, on_request, on_response
from proxy.core.events import StepsFailed
from proxy.core.fast_path import Beginning
from proxy.core.filters import Filters
from proxy.core.limits import Limits
from proxy.core.link import Link
from proxy.core.outcome import By, Outcome
from proxy.core.plugin import Plugin
from proxy.core.turn import ENOUGH, HANDLED
from proxy.core.wish import Handler, Wish
from proxy.protocol.frame import Reader
from proxy.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from proxy.protocol.messages.produce import ProduceResponse
from proxy.protocol.schema import Request
from proxy.testing import (
    ANY,
    Apply,
    ClientCloses,
    FromBroker,
    FromClient,
    Playbook,
    Time,
    connection,
    from_broker,
    from_client,
)
from tests.proxy.core.frames import (
    answering,
    asking,
    cut,
    heartbeat,
    heartbeat_answer,
    metadata,
    metadata_answer,
    produce,
    produce_answer,
)


class Marking(Plugin):
    """Writes its number into Heartbeats and their responses."""

    def __init__(self, number: int) -> None:
        self.number = number

    @on_request(HeartbeatRequest)
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Decision:
        request.group_id += str(self.number)
        return Forward(request)

    @on_response(HeartbeatResponse)
    def answer(self, ctx: Context, response: HeartbeatResponse) -> Decision:
        response.throttle_time_ms = self.number
        return Forward(response)


class Sleeping(Marking):
    """Sleeps before it marks a message."""

    @on_request(HeartbeatRequest)
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Steps:
        yield Sleep(9)
        return super().heartbeat(ctx, request)

    @on_response(HeartbeatResponse)
    def answer(self, ctx: Context, response: HeartbeatResponse) -> Steps:
        yield Sleep(9)
        return super().answer(ctx, response)


class Asking(Marking):
    """Sends the broker its own request before it marks a message."""

    @on_request(HeartbeatRequest)
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Steps:
        yield Ask(HeartbeatRequest(group_id="ours", generation_id=1, member_id="m"), 4)
        return super().heartbeat(ctx, request)


class Replying(Plugin):
    """Answers Heartbeats itself."""

    @on_request(HeartbeatRequest)
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Decision:
        return Reply(HeartbeatResponse(error_code=7))


class Observing(Plugin):
    """Notes the outcomes of requests."""

    def __init__(self) -> None:
        self.told: list[tuple[int, By]] = []

    @on_outcome()
    def ended(self, ctx: Context, outcome: Outcome) -> None:
        self.told.append((ctx.correlation_id, outcome.by))


class Narrow(Plugin):
    """Lets only Heartbeats pass; a Metadata request waits, and opens the gate after a while."""

    def connected(self, connection: Connection) -> None:
        connection.gate.narrow([HeartbeatRequest.api], lambda head: self._strange(connection))
        connection.gate.limit(40)

    def _strange(self, connection: Connection) -> Reader:
        connection.gate.wait()
        connection.gate.run(self._open(connection))
        return connection.gate.hold()

    def _open(self, connection: Connection) -> Steps:
        yield Sleep(9)
        connection.gate.open()
        return None


class Beside(Plugin):
    """Keeps the broker to itself for a while."""

    def connected(self, connection: Connection) -> Steps:
        yield Alone()
        yield Sleep(9)
        connection.gate.leave()
        return None


class Reading(Plugin):
    """Reads Produce responses."""

    @on_response(ProduceResponse)
    def answer(self, ctx: Context, response: ProduceResponse) -> None:
        pass


def marked(number: int, *marks: int) -> bytes:
    """A Heartbeat as it leaves for the broker."""
    return heartbeat(number, "g" + "".join(map(str, marks)))


def marked_answer(number: int, mark: int) -> bytes:
    """Its answer as it leaves for the client."""
    return answering(HeartbeatResponse(error_code=0, throttle_time_ms=mark), number)


def test_the_next_request_is_met_by_the_new_filters_and_the_last_answer_by_the_old_ones() -> None:
    assert (
        Playbook(Marking(1))
        >> FromClient(heartbeat(1))
        << ToBroker(marked(1, 1))
        >> Apply(Marking(2))
        >> FromClient(heartbeat(2))
        << ToBroker(marked(2, 2))
        >> Apply()
        >> FromClient(heartbeat(3))
        << ToBroker(heartbeat(3))
        >> FromBroker(heartbeat_answer(1) + heartbeat_answer(2) + heartbeat_answer(3))
        << ToClient(marked_answer(1, 1) + marked_answer(2, 2) + heartbeat_answer(3))
    )


@pytest.mark.parametrize("at", [1, 4, 11, 12, 13, len(heartbeat(1)) - 1])
def test_a_request_that_is_not_whole_yet_is_met_by_the_new_filters(at: int) -> None:
    observing = Observing()
    first, rest = cut(heartbeat(1), at)
    former, present = (Filters([Marking(mark), observing]) for mark in (1, 2))
    link = Link(connection(), former)
    from_client(link, first)
    counted = former.counts().get(("Heartbeat", 4), 0)
    link.apply(present, Limits())
    asked = from_client(link, rest + heartbeat(2))
    sent = b"".join(bytes(command.data) for command in asked if isinstance(command, ToBroker))
    assert sent == marked(1, 2) + marked(2, 2)
    assert [type(it) for it in asked if not isinstance(it, ToBroker)] in ([], [PauseClient, ResumeClient])
    answered = from_broker(link, heartbeat_answer(1) + heartbeat_answer(2))
    assert answered == [ToClient(marked_answer(1, 2)), ToClient(marked_answer(2, 2))]
    assert observing.told == [(1, By.BROKER), (2, By.BROKER)]
    assert former.counts().get(("Heartbeat", 4), 0) == counted, "they may be added up already"
    assert counted + present.counts().get(("Heartbeat", 4), 0) == 2


def test_a_request_and_an_answer_that_pass_are_not_looked_at_in_their_middle() -> None:
    first, rest = cut(heartbeat(1), 20)
    answered, more = cut(heartbeat_answer(1), 9)
    assert (
        Playbook()
        >> FromClient(first)
        << ToBroker(first)
        >> Apply(Marking(2))
        >> FromClient(rest)
        << ToBroker(rest)
        >> FromBroker(answered)
        << ToClient(answered)
        >> Apply(Marking(3))
        >> FromBroker(more)
        << ToClient(more)
    )


def test_an_answer_that_is_being_assembled_is_shown_to_whoever_was_to_see_it() -> None:
    first, rest = cut(heartbeat_answer(1), 10)
    assert (
        Playbook(Marking(1))
        >> FromClient(heartbeat(1))
        << ToBroker(marked(1, 1))
        >> FromBroker(first)
        >> Apply()
        >> FromBroker(rest)
        << ToClient(marked_answer(1, 1))
    )


def test_the_acks_of_a_request_that_passes_are_read_to_their_end() -> None:
    request = produce(1, acks=0)
    first, rest = cut(request, 16)
    assert (
        Playbook()
        >> FromClient(first)
        << ToBroker(first)
        >> Apply(Reading())
        >> FromClient(rest + heartbeat(2))
        << ToBroker(rest + heartbeat(2))
        >> FromBroker(heartbeat_answer(2))
        << ToClient(heartbeat_answer(2))
    )


def test_what_producers_repeat_is_looked_at_again_by_the_new_filters() -> None:
    observing = Observing()
    assert (
        Playbook(byte_by_byte=False)
        >> FromClient(produce(1, acks=1) + produce(2, acks=1))
        << ToBroker(produce(1, acks=1) + produce(2, acks=1))
        >> Apply(observing)
        >> FromClient(produce(3, acks=1))
        << ToBroker(produce(3, acks=1))
        >> FromBroker(produce_answer(1) + produce_answer(2) + produce_answer(3))
        << ToClient(produce_answer(1) + produce_answer(2) + produce_answer(3))
    )
    assert observing.told == [(3, By.BROKER)]


class Trusting(Plugin):
    """Lets every Heartbeat pass, and says after the first that all others pass unread."""

    counts = False
    keys: frozenset[object] = frozenset()

    def handlers(self, position: int = 0) -> Iterator[Handler]:
        yield Handler(self.heartbeat, Wish(Request, HeartbeatRequest, None), position, fast_path=self)

    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> None:
        pass

    def passes(self, connection: Connection, api: int, frame: memoryview, length: int) -> None:
        return None

    def learn(self, ctx: Context, frame: memoryview, body: int) -> Beginning:
        return Beginning(body)


class TrustingLate(Trusting):
    """Takes its time before it does so."""

    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Steps:  # type: ignore[override]
        yield Sleep(9)
        return None


def test_nothing_is_learned_for_new_filters_from_a_request_that_began_before_them() -> None:
    link = Link(connection(), Filters([Trusting()]))
    from_client(link, heartbeat(1))
    link.apply(Filters([Marking(2)]), Limits())
    assert from_client(link, heartbeat(2)) == [ToBroker(heartbeat(2, "g2"))]


def test_nothing_is_learned_for_new_filters_from_a_request_that_waited_meanwhile() -> None:
    assert (
        Playbook(TrustingLate(), byte_by_byte=False)
        >> FromClient(heartbeat(1))
        << Wake(0, 9)
        << PauseClient()
        >> Apply(Marking(2))
        >> Time()
        << ToBroker(heartbeat(1))
        << ResumeClient()
        >> FromClient(heartbeat(2))
        << ToBroker(marked(2, 2))
    )


def test_a_handler_that_sleeps_goes_on_and_what_waits_behind_it_is_met_by_the_new_filters() -> None:
    assert (
        Playbook(Sleeping(1), byte_by_byte=False)
        >> FromClient(heartbeat(1) + heartbeat(2))
        << Wake(0, 9)
        << PauseClient()
        >> Apply(Marking(2))
        >> Time()
        << ToBroker(marked(1, 1) + marked(2, 2))
        << ResumeClient()
        >> FromBroker(heartbeat_answer(1) + heartbeat_answer(2))
        << Wake(0, 9)
        << PauseBroker()
        >> Apply(Marking(3))
        >> Time()
        << ToClient(marked_answer(1, 1) + marked_answer(2, 2))
        << ResumeBroker()
    )


def test_a_handler_that_asks_gets_its_answer() -> None:
    ours = asking(HeartbeatRequest(group_id="ours", generation_id=1, member_id="m"), 0, client_id="app")
    assert (
        Playbook(Asking(1), byte_by_byte=False)
        >> FromClient(heartbeat(1))
        << ToBroker(ours)
        << PauseClient()
        >> Apply(Marking(2))
        >> FromBroker(heartbeat_answer(0))
        << ToBroker(marked(1, 1))
        << ResumeClient()
        >> FromBroker(heartbeat_answer(1))
        << ToClient(marked_answer(1, 1))
    )


def test_an_answer_of_ours_that_waits_leaves_as_it_is() -> None:
    observing = Observing()
    assert (
        Playbook(Replying(), observing, byte_by_byte=False)
        >> FromClient(metadata(1) + heartbeat(2))
        << ToBroker(metadata(1))
        >> Apply(Marking(2))
        >> FromBroker(metadata_answer(1))
        << ToClient(metadata_answer(1) + answering(HeartbeatResponse(error_code=7), 2))
        >> FromClient(heartbeat(3))
        << ToBroker(marked(3, 2))
    )
    assert observing.told == [(1, By.BROKER), (2, By.PLUGIN)]


def test_a_full_lane_goes_on_when_more_may_be_in_flight() -> None:
    assert (
        Playbook(Marking(1), limits=Limits(in_flight=1), byte_by_byte=False)
        >> FromClient(heartbeat(1) + heartbeat(2) + heartbeat(3))
        << ToBroker(marked(1, 1))
        << PauseClient()
        >> Apply(Marking(2), limits=Limits(in_flight=2))
        << ToBroker(marked(2, 2))
        >> Apply(Marking(3), limits=Limits(in_flight=1))
        >> FromBroker(heartbeat_answer(1))
        << ToClient(marked_answer(1, 1))
        >> FromBroker(heartbeat_answer(2))
        << ToBroker(marked(3, 3))
        << ToClient(marked_answer(2, 2))
        << ResumeClient()
    )


def test_a_lane_whose_turn_it_is_not_goes_on_by_the_new_filters() -> None:
    many = ENOUGH // HANDLED
    sent = b"".join(heartbeat(number) for number in range(many + 1))
    link = Link(connection(), Filters([Marking(1)]))
    commands = from_client(link, bytearray(sent))
    (wake,) = [command for command in commands if isinstance(command, Wake)]
    before = b"".join(bytes(command.data) for command in commands if isinstance(command, ToBroker))
    assert link.apply(Filters([Marking(2)]), Limits()) == []
    after = b"".join(bytes(command.data) for command in link.wake(wake.token) if isinstance(command, ToBroker))
    firsts = before.count(b"\x03g1")
    assert 0 < firsts <= many
    assert before + after == b"".join(marked(n, 1 if n < firsts else 2) for n in range(many + 1))
    assert link.filters.counts() == {("Heartbeat", 4): many + 1 - firsts}


def test_a_gate_stays_as_narrow_as_it_is_and_opens_on_the_new_filters() -> None:
    assert (
        Playbook(Narrow(), Marking(1), byte_by_byte=False)
        >> Apply(Marking(2))
        >> FromClient(heartbeat(1))
        << ToBroker(marked(1, 2))
        >> FromClient(metadata(2) + heartbeat(3))
        << Wake(0, 9)
        << PauseClient()
        >> Apply(Marking(3))
        >> Time()
        << ToBroker(metadata(2) + marked(3, 3))
        << ResumeClient()
    )


def test_requests_stay_short_until_the_gate_opens() -> None:
    long = heartbeat(1, "g" * 40)
    assert Playbook(Narrow()) >> Apply(limits=Limits(frame=1 << 20)) >> FromClient(long) << PauseClient() << Close(ANY)


def test_nobody_is_disturbed_who_is_alone_with_the_broker() -> None:
    assert (
        Playbook(Beside(), Marking(1), byte_by_byte=False)
        >> FromClient(heartbeat(1))
        << PauseClient()
        >> Apply(Marking(2))
        >> Time()
        << ToBroker(marked(1, 2))
        << ResumeClient()
    )


def test_frames_that_begin_may_be_as_long_as_it_is_said_now() -> None:
    first, rest = cut(produce(1, acks=1), 30)
    assert (
        Playbook()
        >> FromClient(first)
        << ToBroker(first)
        >> Apply(limits=Limits(frame=60))
        >> FromClient(rest)
        << ToBroker(rest)
        >> FromBroker(produce_answer(1))
        << ToClient(produce_answer(1))
        >> FromClient(produce(2, acks=1))
        << PauseClient()
        << Close(ANY)
    )


def test_a_lane_that_ended_stays_so() -> None:
    assert (
        Playbook(byte_by_byte=False)
        >> FromClient(heartbeat(1) + b"GET / HTTP/1.1\r\n")
        << ToBroker(heartbeat(1))
        << PauseClient()
        >> Apply(Marking(2))
        >> FromBroker(heartbeat_answer(1))
        << ToClient(heartbeat_answer(1))
        << Close(ANY)
        >> Apply(Marking(3))
    )


def test_a_client_that_said_goodbye_gets_its_answers() -> None:
    assert (
        Playbook(Marking(1), byte_by_byte=False)
        >> FromClient(heartbeat(1))
        << ToBroker(marked(1, 1))
        >> ClientCloses()
        >> Apply(Marking(2))
        >> FromBroker(heartbeat_answer(1))
        << ToClient(marked_answer(1, 1))
        << Close(None)
    )


class LinkAtWork:
    """A link with work in progress under filters whose lease is watched."""

    def __init__(self, *plugins: Plugin) -> None:
        filters = Filters(plugins)
        self.lease = filters.lease
        self.link = Link(connection(), filters)

    def change(self) -> bool:
        """Apply other filters. Is the lease of the former ones still held?"""
        self.link.apply(Filters(), Limits())
        return self.is_held

    @property
    def is_held(self) -> bool:
        return self.lease() is not None


@pytest.mark.parametrize("plugin", [Marking(1), Observing(), Reading()], ids=lambda plugin: type(plugin).__name__)
def test_filters_are_done_with_when_the_last_answer_has_left(plugin: Plugin) -> None:
    gc.disable()  # nothing may need the garbage collector
    try:
        here = LinkAtWork(plugin)
        from_client(here.link, bytearray(heartbeat(1) + produce(2, acks=1)))
        from_broker(here.link, bytearray(heartbeat_answer(1)))
        assert here.change()
        first, rest = cut(produce_answer(2), 10)
        from_broker(here.link, bytearray(first))
        assert here.is_held or isinstance(plugin, Marking), "Marking wants nothing of Produce: its answer passes"
        from_broker(here.link, bytearray(rest))
        from_client(here.link, bytearray(produce(3, acks=1)))
        from_broker(here.link, bytearray(produce_answer(3)))
        here.link.apply(Filters(), Limits())
        assert not here.is_held
    finally:
        gc.enable()


def test_filters_of_a_quiet_link_are_done_with_at_once() -> None:
    gc.disable()
    try:
        here = LinkAtWork(Marking(1), Observing())
        from_client(here.link, bytearray(heartbeat(1) + produce(2, acks=1) + metadata(3)))
        from_broker(here.link, bytearray(heartbeat_answer(1) + produce_answer(2) + metadata_answer(3)))
        assert not here.change()
    finally:
        gc.enable()


def test_filters_are_not_done_with_while_an_answer_of_ours_waits() -> None:
    gc.disable()
    try:
        here = LinkAtWork(Replying(), Observing())
        from_client(here.link, bytearray(metadata(1)))
        from_client(here.link, bytearray(heartbeat(2)))
        assert here.change()
        from_broker(here.link, bytearray(metadata_answer(1)))
        assert not here.is_held
    finally:
        gc.enable()


class Joining(Marking):
    """Notes which connections it joined."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.joins: list[Connection] = []

    def joined(self, connection: Connection) -> None:
        self.joins.append(connection)


def test_a_plugin_joins_where_none_of_its_name_was() -> None:
    first, second, third = Joining(1), Joining(2), Joining(3)
    link = Link(connection(), Filters([first]))
    for plugins in ([second], [], [third], [third]):
        link.apply(Filters(plugins), Limits())
    assert (first.joins, second.joins) == ([], [])
    assert third.joins == [link.connection]


@pytest.mark.parametrize("failure", [ValueError("boom"), SystemExit(1)])
def test_a_plugin_that_fails_to_join_ends_the_connection_and_is_named(failure: BaseException) -> None:
    class Failing(Plugin):
        def joined(self, connection: Connection) -> None:
            raise failure

    link = Link(connection(), Filters([]))
    link.begin()
    told, closed = link.apply(Filters([Failing()]), Limits())
    assert isinstance(told, Emit)
    assert isinstance(told.event, StepsFailed)
    assert told.event.steps.endswith("Failing.joined")
    assert closed == Close(f"{told.event.steps} failed")
