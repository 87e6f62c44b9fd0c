"""Outcomes: every request ends once, with or without a response, and observers learn it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from proxy.core.clock import Clock
from proxy.core.commands import Command, Emit, ToBroker, ToClient, Wake
from proxy.core.context import Connection, Context
from proxy.core.decisions import Ask, Decision, Disconnect, Forward, Raw, Reply, Sleep, Steps
from proxy.core.decorators import (
    observe,
    observe_topics,
    on_event,
    on_outcome,
    on_request,
    on_response,
    on_unsupported,
)
from proxy.core.events import Connected, ObserverFailed
from proxy.core.filters import Filters
from proxy.core.link import Link
from proxy.core.outcome import By, Outcome
from proxy.core.plugin import Plugin
from proxy.core.wish import Handler, Wish
from proxy.protocol.api import HEARTBEAT, METADATA
from proxy.protocol.fiber import turns
from proxy.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from proxy.protocol.messages.find_coordinator import FindCoordinatorRequest
from proxy.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from proxy.protocol.messages.produce import ProduceRequest, ProduceResponse
from proxy.protocol.schema import Request
from proxy.protocol.slices import LARGE
from proxy.testing import connection, from_broker, from_client
from tests.proxy.core.frames import (
    asking,
    cut,
    heartbeat,
    heartbeat_answer,
    metadata,
    metadata_answer,
    produce,
    produce_answer,
)

FUTURE = b"\0\0\0\x0c\0\x12\0\x63%b\0\0\0\0"  # ApiVersions v99
UNKNOWN = b"\0\0\0\x0c\x03\xe8\0\0%b\0\0\0\0"  # an unknown API


class Watching(Plugin):
    """Notes outcomes, and the messages that it reads."""

    def __init__(self) -> None:
        self.told: list[tuple[int, Outcome]] = []
        self.asked: list[str] = []
        self.answered: list[int] = []

    @on_outcome()
    def ended(self, ctx: Context, outcome: Outcome) -> None:
        self.told.append((ctx.correlation_id, outcome))

    @property
    def by(self) -> list[tuple[int, By]]:
        return [(number, outcome.by) for number, outcome in self.told]


class Reading(Watching):
    """Reads Heartbeats and their responses, too."""

    @observe(HeartbeatRequest, fields="group_id")
    def request(self, ctx: Context, request: HeartbeatRequest) -> None:
        self.asked.append(request.group_id)

    @observe(HeartbeatResponse, fields="error_code")
    def response(self, ctx: Context, response: HeartbeatResponse) -> None:
        self.answered.append(response.error_code)


class Doing(Plugin):
    """Handles a Heartbeat as its group id says."""

    @on_request(HeartbeatRequest)
    def down(self, ctx: Context, request: HeartbeatRequest) -> Steps:
        match request.group_id:
            case "forward":
                request.group_id = "forwarded"
                return Forward(request)
            case "reply":
                return Reply(HeartbeatResponse(error_code=27))
            case "raise":
                raise ValueError("boom")
            case "disconnect":
                return Disconnect("enough")
            case "sleep":
                yield Sleep(1)
            case "ask":
                yield Ask(FindCoordinatorRequest(coordinator_keys=["g"]), 4)
        return None

    @on_response(HeartbeatResponse)
    def up(self, ctx: Context, response: HeartbeatResponse) -> Decision:
        if response.error_code == 99:
            raise ValueError("boom")
        return None

    @on_unsupported(ApiVersionsRequest)
    def unknown(self, ctx: Context) -> Decision:
        return Reply(ApiVersionsResponse(error_code=35, api_keys=[]), version=0)


def play(link: Link, *frames: bytes) -> list[Command]:
    return [command for frame in frames for command in from_client(link, frame)]


def woken(link: Link, commands: list[Command]) -> None:
    """Other connections had their turns: wake the link."""
    while tokens := [command.token for command in commands if isinstance(command, Wake)]:
        commands = [command for token in tokens for command in link.wake(token)]


@pytest.mark.parametrize("observer", [Watching, Reading])
@pytest.mark.parametrize("first", [True, False])
def test_an_observer_sees_all_answers_wherever_it_stands(observer: type[Watching], first: bool) -> None:
    watching = observer()
    plugins = [watching, Doing()] if first else [Doing(), watching]
    link = Link(connection(), Filters(plugins))
    play(link, heartbeat(1, "reply"), heartbeat(2, "raise"), heartbeat(3, "forward"), metadata(4))
    from_broker(link, heartbeat_answer(3) + metadata_answer(4))
    assert watching.by == [(1, By.PLUGIN), (2, By.PROXY), (3, By.BROKER), (4, By.BROKER)]
    assert [outcome.why for _, outcome in watching.told] == [
        "Doing.down",
        "Doing.down failed on a Heartbeat request",
        None,
        None,
    ]


def test_who_decided_what_is_told_in_order() -> None:
    class Raising(Plugin):
        @on_response(HeartbeatResponse)
        def up(self, ctx: Context, response: HeartbeatResponse) -> Decision:
            return Forward(response)

    watching = Watching()
    link = Link(connection(), Filters([Raising(), Doing(), watching]))
    play(link, heartbeat(1, "forward"), heartbeat(2, "reply"), heartbeat(3, "raise"), heartbeat(4), metadata(5))
    play(link, FUTURE % b"\0\0\0\6")
    from_broker(link, heartbeat_answer(1) + heartbeat_answer(4, 99))
    up = "test_who_decided_what_is_told_in_order.<locals>.Raising.up"
    told = {number: tuple(made[:2] for made in outcome.decisions) for number, outcome in watching.told}
    assert told == {
        1: (("Doing.down", "Forward"), (up, "Forward")),
        2: (("Doing.down", "Reply"), (up, "Forward")),
        3: (("Doing.down", "failed"),),
        4: (("Doing.up", "failed"),),
        5: (),
        6: (("Doing.unknown", "Reply"),),
    }


def test_an_observer_reads_requests_as_they_came_and_answers_as_they_left() -> None:
    reading = Reading()
    link = Link(connection(), Filters([Doing(), reading]))
    play(link, heartbeat(1, "reply"), heartbeat(2, "raise"), heartbeat(3, "forward"))
    from_broker(link, heartbeat_answer(3, 5))
    assert reading.asked == ["reply", "raise", "forward"]
    assert reading.answered == [27, -1, 5]


def test_what_nobody_answers_says_why() -> None:
    watching = Watching()
    link = Link(connection(), Filters([watching, Doing()]))
    play(link, produce(1, acks=0), metadata(2), heartbeat(3, "disconnect"))
    link.broker_closed()
    assert [(number, outcome.by, outcome.why) for number, outcome in watching.told] == [
        (1, By.NOBODY, "acks 0 has no answer"),
        (3, By.NOBODY, "enough"),
        (2, By.NOBODY, "the broker closed the connection with requests in flight"),
    ]


def test_what_nobody_knows_has_an_outcome_too() -> None:
    watching = Watching()
    link = Link(connection(), Filters([watching, Doing()]))
    play(link, FUTURE % b"\0\0\0\1", UNKNOWN % b"\0\0\0\2")
    assert watching.by == [(1, By.PLUGIN), (2, By.NOBODY)]
    assert watching.told[1][1].why == "the client asked for the unknown API 1000"


def test_what_nobody_knows_ends_by_its_own_reason_while_older_requests_wait() -> None:
    watching = Watching()
    link = Link(connection(), Filters([watching]))
    play(link, metadata(1), UNKNOWN % b"\0\0\0\2")
    assert watching.by == [(2, By.NOBODY)]
    link.broker_closed()
    assert [(number, outcome.why) for number, outcome in watching.told] == [
        (2, "the client asked for the unknown API 1000"),
        (1, "the broker closed the connection with requests in flight"),
    ]


class Losing(Plugin):
    """Has no response to a Heartbeat leave."""

    @on_response(HeartbeatResponse)
    def lose(self, ctx: Context, response: HeartbeatResponse) -> Decision:
        return Raw(b"")


def test_a_response_that_a_handler_drops_is_told_at_once_as_its_decision() -> None:
    watching = Watching()
    link = Link(connection(), Filters([watching, Losing()]))
    play(link, heartbeat(1))
    from_broker(link, heartbeat_answer(1))
    assert not link.closed
    ((number, outcome),) = watching.told
    assert (number, outcome.by, outcome.why) == (1, By.NOBODY, "Losing.lose")
    assert (outcome.answered, outcome.left, outcome.response_bytes) == (None, None, 0)


def test_a_request_that_cannot_be_read_has_an_outcome() -> None:
    frame = bytearray(heartbeat(1))
    frame[18] = 200  # a group id longer than the frame
    watching = Watching()
    play(Link(connection(), Filters([watching, Doing()])), bytes(frame))
    assert watching.by == [(1, By.NOBODY)]


def test_moments_and_sizes_are_told() -> None:
    watching, clock = Watching(), Clock(10.0)
    link = Link(connection(), Filters([watching]), clock=clock)
    request, answer = produce(1, acks=1, records=b"r" * 1000), produce_answer(1)
    play(link, request[:500])
    clock.now = 11.0
    play(link, request[500:])
    clock.now = 12.0
    from_broker(link, answer[:9])
    assert not watching.told
    clock.now = 13.0
    from_broker(link, answer[9:])
    ((_, outcome),) = watching.told
    assert outcome == Outcome(By.BROKER, None, 10.0, 10.0, 12.0, 13.0, len(request), len(answer))


def test_an_answer_of_the_proxy_leaves_when_older_ones_have() -> None:
    watching, clock = Watching(), Clock(1.0)
    link = Link(connection(), Filters([watching, Doing()]), clock=clock)
    play(link, metadata(1), heartbeat(2, "reply"))
    clock.now = 5.0
    from_broker(link, metadata_answer(1))
    assert [(number, outcome.answered, outcome.left) for number, outcome in watching.told] == [(1, 5, 5), (2, 1, 5)]


def test_an_observer_that_raises_stops_nothing() -> None:
    class Broken(Watching):
        @observe(HeartbeatRequest)
        def request(self, ctx: Context, request: HeartbeatRequest) -> None:
            raise ValueError("boom")

        @on_outcome(HEARTBEAT)
        def ended(self, ctx: Context, outcome: Outcome) -> None:
            raise ValueError("boom")

    watching = Watching()
    link = Link(connection(), Filters([Broken(), watching]))
    given = play(link, heartbeat(1)) + from_broker(link, heartbeat_answer(1))
    assert [type(command) for command in given] == [Emit, ToBroker, ToClient, Emit] or [
        type(command) for command in given
    ] == [Emit, ToBroker, Emit, ToClient]
    assert all(isinstance(command.event, ObserverFailed) for command in given if isinstance(command, Emit))
    assert watching.by == [(1, By.BROKER)]
    assert link.counters.failed_observers == 2


class Returning(Plugin):
    """Its observers return what a handler might return."""

    def __init__(self, returned: object) -> None:
        self.returned = returned

    @observe(HeartbeatRequest)
    def request(self, ctx: Context, request: HeartbeatRequest) -> object:
        return self.returned

    @observe(HeartbeatResponse)
    def response(self, ctx: Context, response: HeartbeatResponse) -> object:
        return self.returned

    @observe_topics(ProduceRequest)
    def topics(self, ctx: Context, topics: object) -> object:
        return self.returned

    @on_outcome(HEARTBEAT)
    def ended(self, ctx: Context, outcome: Outcome) -> object:
        return self.returned

    @on_event(Connected)
    def happened(self, connection: Connection, event: Connected) -> object:
        return self.returned


@pytest.mark.parametrize("returned", [Disconnect("no"), (Sleep(1) for _ in "x")])
def test_an_observer_that_decides_is_told_of_since_nobody_carries_that_out(returned: object) -> None:
    link = Link(connection(), Filters([Returning(returned)]))
    given = [*link.begin(), *play(link, heartbeat(1), produce(2, acks=1)), *from_broker(link, heartbeat_answer(1))]
    failed = [command.event for command in given if isinstance(command, Emit)]
    assert sorted(event.observer.partition(".")[2] for event in failed if isinstance(event, ObserverFailed)) == [
        "ended",
        "happened",
        "request",
        "response",
        "topics",
    ]
    assert {type(event.error).__name__ for event in failed} == {"ObserverReturnedError"}  # type: ignore[union-attr]
    assert not link.closed


def test_an_observer_of_large_messages_that_decides_is_told_of_too() -> None:
    link = Link(connection(), Filters([Returning(Disconnect("no"))]))
    frame = heartbeat(1, "g" * (LARGE + 1))
    given = play(link, frame)
    woken(link, given)
    assert link.counters.failed_observers == 1


def test_an_observer_of_some_apis_is_told_of_no_others() -> None:
    class Some(Watching):
        @on_outcome(METADATA)
        def ended(self, ctx: Context, outcome: Outcome) -> None:
            super().ended(ctx, outcome)

    some = Some()
    link = Link(connection(), Filters([some]))
    play(link, metadata(1), heartbeat(2), produce(3, acks=1))
    from_broker(link, metadata_answer(1) + heartbeat_answer(2) + produce_answer(3))
    assert some.by == [(1, By.BROKER)]


class Remembering(Plugin):
    """Passes Produce requests unread that equal one that it saw, as an ACL plugin does."""

    def __init__(self) -> None:
        self.known: dict[bytes, Context] = {}

    def handlers(self, position: int = 0) -> Iterator[Handler]:
        yield Handler(self.produce, Wish(Request, ProduceRequest, None), position, fast_path=self)

    def produce(self, ctx: Context, request: ProduceRequest) -> None:
        ctx.notes[self] = "allowed"

    def passes(self, connection: Connection, api: int, frame: memoryview, length: int) -> Context | None:
        return self.known.get(bytes(frame[12:length]))

    def learn(self, ctx: Context, frame: memoryview, body: int) -> None:
        self.known[bytes(frame[12:])] = ctx.as_sample()


class Answers(Plugin):
    """Notes the contexts of the responses that it sees."""

    def __init__(self) -> None:
        self.seen: list[Context] = []

    @on_response(ProduceResponse)
    def answer(self, ctx: Context, response: ProduceResponse) -> None:
        self.seen.append(ctx)


@pytest.mark.parametrize("others", [[], [Watching()]])
def test_each_request_has_a_context_of_its_own_also_where_it_passed_unread(others: list[Plugin]) -> None:
    answers, remembering = Answers(), Remembering()
    link = Link(connection(), Filters([remembering, answers, *others]))
    for number in (101, 102, 103):
        play(link, produce(number, acks=1))
        from_broker(link, produce_answer(number))
    assert len(remembering.known) == 1
    assert [ctx.correlation_id for ctx in answers.seen] == [101, 102, 103]
    assert [ctx.notes[remembering] for ctx in answers.seen] == ["allowed"] * 3
    assert len({id(ctx.notes) for ctx in answers.seen}) == 3
    assert not any(ctx.sample for ctx in answers.seen)


class Topics(Watching):
    """Reads the topics of Produce requests, and keeps them in the notes for the outcome."""

    def __init__(self) -> None:
        super().__init__()
        self.noted: list[list[str]] = []

    @observe(ProduceRequest, fields="topic_data")
    def request(self, ctx: Context, request: ProduceRequest) -> None:
        ctx.notes.setdefault(self, []).extend(topic.name for topic in request.topic_data)

    @on_outcome()
    def ended(self, ctx: Context, outcome: Outcome) -> None:
        super().ended(ctx, outcome)
        self.noted.append(ctx.notes.get(self, []))


@pytest.mark.parametrize("records", [b"r" * 30, b"r" * 9_000])
@pytest.mark.parametrize("pieces", [1, 2])
def test_a_request_that_the_fast_path_knows_is_shown_to_observers_and_not_judged_again(
    records: bytes, pieces: int
) -> None:
    judged: list[int] = []

    class Judging(Remembering):
        def produce(self, ctx: Context, request: ProduceRequest) -> None:
            judged.append(ctx.correlation_id)
            super().produce(ctx, request)

    judging, topics, answers = Judging(), Topics(), Answers()
    link = Link(connection(), Filters([topics, judging, answers]))
    for number in (101, 102, 103):
        frame = produce(number, 1, records)
        woken(link, play(link, *([frame] if pieces == 1 else cut(frame, len(frame) // 2))))
        woken(link, from_broker(link, produce_answer(number)))
    assert judged == [101]
    assert topics.noted == [["orders"]] * 3
    assert topics.by == [(101, By.BROKER), (102, By.BROKER), (103, By.BROKER)]
    assert [outcome.request_bytes for _, outcome in topics.told] == [len(frame)] * 3
    assert [ctx.correlation_id for ctx in answers.seen] == [101, 102, 103]
    assert [ctx.notes[judging] for ctx in answers.seen] == ["allowed"] * 3


def test_a_small_request_without_an_answer_is_shown_and_ends() -> None:
    topics = Topics()
    given = play(Link(connection(), Filters([topics])), produce(1, acks=0))
    assert [type(command) for command in given] == [ToBroker]
    assert topics.noted == [["orders"]]
    assert [(number, outcome.why) for number, outcome in topics.told] == [(1, "acks 0 has no answer")]


@pytest.mark.parametrize("first", [True, False])
def test_what_an_observer_cannot_read_ends_the_conversation_also_where_a_fast_path_knows_it(first: bool) -> None:
    class Unlooking(Remembering):
        def passes(self, connection: Connection, api: int, frame: memoryview, length: int) -> Context | None:
            return next(iter(self.known.values()), None)

    topics = Topics()
    link = Link(connection(), Filters([topics, Unlooking()] if first else [Unlooking(), topics]))
    frame = bytearray(produce(2, acks=1))
    frame[frame.index(b"orders") - 1] = 100  # the name is longer than the frame
    play(link, produce(1, acks=1), bytes(frame))
    assert topics.by == [(2, By.NOBODY)]
    assert link.counters.undecodable == 1


def test_large_messages_are_shown_in_slices() -> None:
    shown: list[int] = []

    class Slow(Plugin):
        @observe(ProduceRequest, fields="topic_data")
        def request(self, ctx: Context, request: ProduceRequest) -> None:
            for partition in turns(request.topic_data[0].partition_data):
                shown.append(partition.index)

    partitions = [ProduceRequest.Topic.Partition(index=index, records=b"") for index in range(20_000)]
    topic = ProduceRequest.Topic(name="orders", partition_data=partitions)
    link = Link(connection(), Filters([Slow()]))
    commands = play(link, asking(ProduceRequest(acks=1, timeout_ms=1, topic_data=[topic]), 1, 9))
    seen = set()
    while tokens := [command.token for command in commands if isinstance(command, Wake)]:
        seen.add(len(shown))
        commands = link.wake(tokens[0])
    assert shown == list(range(20_000))
    assert len(seen) > 100
