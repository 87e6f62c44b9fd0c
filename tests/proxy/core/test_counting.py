"""Counting: no handler sees requests that a plugin only counts, unless their responses must be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from proxy.core.commands import Command, Emit, ToBroker, ToClient
from proxy.core.context import Connection, Context
from proxy.core.counting import ConnectionCounting, RequestCounting
from proxy.core.decisions import Decision, Forward
from proxy.core.decorators import observe, on_outcome, on_request
from proxy.core.events import ObserverFailed
from proxy.core.fast_path import Beginning
from proxy.core.filters import Filters
from proxy.core.inflight import SLOT
from proxy.core.link import Link
from proxy.core.outcome import By, Outcome
from proxy.core.plugin import Plugin
from proxy.core.request_heads import HEAD
from proxy.core.wish import Handler, Wish
from proxy.protocol.api import HEARTBEAT, Api
from proxy.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from proxy.protocol.schema import Request, Response
from proxy.testing import connection, from_broker, from_client
from tests.proxy.core.frames import asking, cut, heartbeat, heartbeat_answer

READ = "read"  # a group whose requests are not counted


class Exchange(NamedTuple):
    came: float
    size: int
    held: int = 100


class Counts(Plugin):
    """Counts Heartbeats without errors, and gets the outcomes of all others."""

    def __init__(self, error: Exception | None = None) -> None:
        self.counted = 0
        self.told: list[tuple[int, By, object]] = []
        self.shown: list[int] = []
        self.error = error
        self.begun: list[int] = []

    def counting(self, api: Api, version: int) -> RequestCounting | None:
        return self if api is HEARTBEAT else None

    def of(self, connection: Connection) -> ConnectionCounting:
        self.begun.append(connection.number)
        return self

    def ask(self, data: memoryview, begin: int, size: int, header: bytes, came: float) -> Exchange | None:
        frame = bytes(data[begin : begin + size])
        is_known = frame.startswith(header, HEAD)
        return Exchange(came, size) if is_known and READ.encode() not in frame[HEAD + len(header) :] else None

    def answer(self, exchange: Any, data: memoryview, begin: int, end: int, answered: float, left: float) -> bool:
        if self.error is not None:
            raise self.error
        assert bytes(data[begin:end]).startswith(heartbeat_answer(0)[:4])
        if bytes(data[end - 3 : end - 1]) != b"\0\0":
            return False
        self.counted += 1
        return True

    def resume(self, ctx: Context, exchange: Any) -> None:
        ctx.notes[self] = "resumed"

    @observe(HeartbeatResponse)
    def answered(self, ctx: Context, response: HeartbeatResponse) -> None:
        self.shown.append(response.error_code)

    @on_outcome(HEARTBEAT)
    def ended(self, ctx: Context, outcome: Outcome) -> None:
        self.told.append((ctx.correlation_id, outcome.by, ctx.notes.get(self)))


class Summing(Plugin):
    """Counts Heartbeats likewise, but is not shown any response."""

    def __init__(self) -> None:
        self.counts = Counts()
        self.ended_by: list[tuple[int, By]] = []

    def counting(self, api: Api, version: int) -> RequestCounting | None:
        return self.counts.counting(api, version)

    @on_outcome(HEARTBEAT)
    def ended(self, ctx: Context, outcome: Outcome) -> None:
        self.ended_by.append((ctx.correlation_id, outcome.by))


def sent(commands: list[Command], kind: type[ToBroker] | type[ToClient]) -> bytes:
    return b"".join(bytes(command.data) for command in commands if isinstance(command, kind))


def linked(*plugins: Plugin) -> Link:
    link = Link(connection(), Filters(plugins))
    link.begin()
    return link


def test_what_is_counted_passes_and_is_told_of_no_more() -> None:
    counts = Counts()
    link = linked(counts)
    asked = b"".join(map(heartbeat, range(3)))
    assert sent(from_client(link, bytearray(asked)), ToBroker) == asked
    assert link.held == 3 * (SLOT + 100)
    answers = b"".join(map(heartbeat_answer, range(3)))
    assert sent(from_broker(link, bytearray(answers)), ToClient) == answers
    assert (counts.counted, counts.told, counts.shown) == (3, [], [])


def test_a_client_may_call_itself_otherwise_in_each_request_and_is_counted() -> None:
    counts = Counts()
    link = linked(counts)
    for number, name in enumerate(["app", "app", "application", None, "app"]):
        request = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
        from_client(link, bytearray(asking(request, number, client_id=name)))
        assert link.connection.client_id == name
        from_broker(link, bytearray(heartbeat_answer(number)))
    assert (counts.counted, counts.told) == (5, [])
    assert counts.begun == [link.connection.number], "it is asked once who counts them"


@pytest.mark.parametrize("at", [0, 5, 13])
def test_an_answer_in_pieces_is_counted_when_it_is_whole(at: int) -> None:
    counts = Counts()
    link = linked(counts)
    from_client(link, bytearray(heartbeat(1)))
    pieces = cut(heartbeat_answer(1), at)
    passed = [sent(from_broker(link, bytearray(piece)), ToClient) for piece in pieces]
    assert (b"".join(passed), counts.counted, counts.told) == (heartbeat_answer(1), 1, [])


@pytest.mark.parametrize("at", [0, 9])
def test_an_answer_that_is_not_counted_is_shown_and_told_like_any_other(at: int) -> None:
    counts = Counts()
    link = linked(counts)
    from_client(link, bytearray(heartbeat(1) + heartbeat(2, READ)))
    passed = [sent(from_broker(link, bytearray(piece)), ToClient) for piece in cut(heartbeat_answer(1, 27), at)]
    assert b"".join(passed) == heartbeat_answer(1, 27)
    from_broker(link, bytearray(heartbeat_answer(2)))
    assert (counts.counted, counts.shown) == (0, [27, 0])
    assert counts.told == [(1, By.BROKER, "resumed"), (2, By.BROKER, None)]


def test_what_has_no_answer_when_the_link_ends_is_told() -> None:
    counts = Counts()
    link = linked(counts)
    from_client(link, bytearray(heartbeat(1) + heartbeat(2)))
    link.broker_closed()
    link.release()
    assert counts.told == [(1, By.NOBODY, "resumed"), (2, By.NOBODY, "resumed")]


@pytest.mark.parametrize("at", [8, 13])
def test_an_answer_that_breaks_off_is_held_and_its_request_told(at: int) -> None:
    counts = Counts()
    link = linked(counts)
    from_client(link, bytearray(heartbeat(1) + heartbeat(2)))
    from_broker(link, bytearray(heartbeat_answer(1)[:at]))
    assert link.held >= 200
    link.broker_closed()
    link.release()
    assert (counts.counted, counts.shown) == (0, [])
    assert counts.told == [(1, By.NOBODY, "resumed"), (2, By.NOBODY, "resumed")]


def test_a_plugin_that_fails_to_count_is_told_of_and_shown_the_answer() -> None:
    counts = Counts(ValueError("odd"))
    link = linked(counts)
    from_client(link, bytearray(heartbeat(1)))
    done = from_broker(link, bytearray(heartbeat_answer(1)))
    (failed,) = [command.event for command in done if isinstance(command, Emit)]
    assert isinstance(failed, ObserverFailed)
    assert failed.observer == "Counts.answer"
    assert sent(done, ToClient) == heartbeat_answer(1)
    assert (counts.counted, counts.shown) == (0, [0])


class Watching(Plugin):
    """Gets the outcomes of Heartbeats, too."""

    @on_outcome(HEARTBEAT)
    def ended(self, ctx: Context, outcome: Outcome) -> None:
        pass


class Changing(Plugin):
    """Handles Heartbeats."""

    @on_request(HeartbeatRequest)
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Decision:
        return Forward(request)


@pytest.mark.parametrize("other", [Watching, Changing])
def test_nothing_is_counted_where_somebody_else_sees_the_requests(other: Callable[[], Plugin]) -> None:
    counts = Counts()
    link = linked(counts, other())
    from_client(link, bytearray(heartbeat(1)))
    from_broker(link, bytearray(heartbeat_answer(1)))
    assert (counts.counted, counts.shown, [by for _, by, _ in counts.told]) == (0, [0], [By.BROKER])


class Trusting(Plugin):
    """Passes Heartbeats that equal the last one, and reads responses if `is_needed`."""

    def __init__(self) -> None:
        self.is_needed = False
        self.sample: Context | None = None
        self.seen: list[int] = []

    def handlers(self, position: int = 0) -> list[Handler]:
        asked = Wish(Request, HeartbeatRequest, None)
        answered = Wish(Response, HeartbeatResponse, None)
        return [
            Handler(self.asked, asked, position, fast_path=self),
            Handler(self.answered, answered, position, needed=self.needed),
        ]

    def asked(self, ctx: Context, request: HeartbeatRequest) -> Decision:
        ctx.notes[self] = "asked"

    def answered(self, ctx: Context, response: HeartbeatResponse) -> Decision:
        self.seen.append(ctx.correlation_id)
        assert ctx.notes[self] == "asked"

    def needed(self, ctx: Context) -> bool:
        return self.is_needed

    def passes(self, connection: Connection, api: int, frame: memoryview, length: int) -> Context | None:
        return self.sample

    def learn(self, ctx: Context, frame: memoryview, body: int) -> Beginning | None:
        self.sample = ctx.as_sample()
        return None


def test_what_a_fast_path_lets_pass_is_counted_unless_its_answer_is_needed() -> None:
    counts, trusting = Counts(), Trusting()
    link = linked(trusting, counts)
    for number in (1, 2, 3):
        from_client(link, bytearray(heartbeat(number)))
        trusting.is_needed = number == 3
        from_broker(link, bytearray(heartbeat_answer(number)))
    assert (counts.counted, trusting.seen) == (1, [3])
    assert [number for number, _, _ in counts.told] == [1, 3]


@pytest.mark.parametrize("at", [0, 9, len(heartbeat_answer(2))])
def test_an_answer_that_is_not_counted_passes_where_nobody_needs_to_see_it(at: int) -> None:
    summing, trusting = Summing(), Trusting()
    link = linked(trusting, summing)
    from_client(link, bytearray(heartbeat(1)))
    from_broker(link, bytearray(heartbeat_answer(1)))
    from_client(link, bytearray(heartbeat(2)))
    answer = heartbeat_answer(2, 27)
    passed = [sent(from_broker(link, bytearray(piece)), ToClient) for piece in (answer[:at], answer[at:]) if piece]
    assert b"".join(passed) == answer
    assert (trusting.seen, summing.ended_by) == ([], [(1, By.BROKER), (2, By.BROKER)])
