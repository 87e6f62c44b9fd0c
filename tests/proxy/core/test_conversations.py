"""Random conversations: each request ends once and in order, whatever plugins do and whenever the link ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.core.clock import Clock
from proxy.core.commands import Await, ToBroker, ToClient, Wake
from proxy.core.context import Connection, Context
from proxy.core.decisions import Ask, Cut, Decision, Disconnect, Drip, Forward, How, Raw, Reply, Sleep, Steps, Wait
from proxy.core.decorators import before_answer, observe, on_event, on_outcome, on_request, on_response, on_unsupported
from proxy.core.events import Closed, Connected, Fact
from proxy.core.filters import Filters
from proxy.core.limits import Limits
from proxy.core.link import Link
from proxy.core.outcome import By, Outcome
from proxy.core.plugin import Plugin
from proxy.core.signal import Signal
from proxy.core.wish import Handler, Wish
from proxy.protocol.api import APIS, HEARTBEAT, LIST_GROUPS, METADATA, PRODUCE, Api
from proxy.protocol.errors import ErrorCode
from proxy.protocol.frame import REQUEST_HEAD, RESPONSE_HEAD, SIZE, Head
from proxy.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from proxy.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from proxy.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from proxy.protocol.messages.list_groups import ListGroupsRequest
from proxy.protocol.schema import Request, Response, blank
from proxy.testing import connection, from_broker, from_client
from tests.proxy.core.frames import answering, asking, heartbeat, metadata, metadata_answer, produce, produce_answer
from tests.proxy.core.test_outcome import FUTURE, UNKNOWN

FAILING = 99  # an error of a broker


def fail(message: Any) -> Decision:
    raise ValueError("boom")


def sleep(message: Any) -> Steps:
    yield Sleep(1)
    return None


def wait(message: Any) -> Steps:
    yield Wait(Signal())
    return None


WAYS: dict[str, Callable[[Any], Decision]] = {  # of requests
    "pass": lambda request: None,
    "forward": Forward,
    "version": lambda request: Forward(request, version=0),
    "copies": lambda request: Forward(request, copies=3),
    "both": lambda request: Forward(request, version=3, copies=2),
    "last": lambda request: Forward(request, end="the last one"),
    "reply": lambda request: Reply(blank(request.api.response)),
    "raw": lambda request: Raw(lambda frame: frame),
    "drip": lambda request: Drip(7, 1),
    "cut": lambda request: Cut(7, "a fault"),
    "cut and reset": lambda request: Cut(7, "a fault", How.RESET),
    "disconnect": lambda request: Disconnect("enough"),
    "half close": lambda request: Disconnect("enough", How.HALF_CLOSE),
    "black hole": lambda request: Disconnect("enough", How.BLACK_HOLE),
    "nonsense": lambda request: "nonsense",
    "raise": fail,
}
WAYS_BACK: dict[str, Callable[[Any], Decision]] = {  # of answers
    "forward it": Forward,
    "lose it": lambda response: Raw(b""),
    "drip it": lambda response: Drip(7, 1),
    "cut it": lambda response: Cut(7, "a fault"),
    "reset at it": lambda response: Disconnect("enough", How.RESET),
    "black hole at it": lambda response: Disconnect("enough", How.BLACK_HOLE),
    "raise at it": fail,
}


class Watching(Plugin):
    """Notes outcomes and events, reads Heartbeats and their responses, and makes every third response wait."""

    def __init__(self) -> None:
        self.told: list[tuple[int, Outcome]] = []
        self.before: list[tuple[int, Outcome]] = []
        self.events: list[Fact] = []

    @observe(HeartbeatRequest, fields="group_id")
    @observe(HeartbeatResponse, fields="error_code")
    def read(self, ctx: Context, message: Any) -> None:
        """It only reads."""

    @before_answer(METADATA, HEARTBEAT, LIST_GROUPS)
    def hold(self, ctx: Context, outcome: Outcome) -> Steps:
        self.before.append((ctx.correlation_id, outcome))
        if not ctx.correlation_id % 3:
            yield Sleep(1)
        return None

    @on_outcome()
    def ended(self, ctx: Context, outcome: Outcome) -> None:
        self.told.append((ctx.correlation_id, outcome))

    @on_event(Connected, Closed)
    def happened(self, connection: Connection, event: Fact) -> None:
        assert not any(isinstance(each, Closed) for each in self.events)
        self.events.append(event)


class Doing(Plugin):
    """Handles a Heartbeat and its response as the group id says, and refuses ListGroups."""

    def connected(self, connection: Connection) -> None:
        gate = connection.gate
        gate.narrow(
            [METADATA, HEARTBEAT, PRODUCE],
            lambda head: gate.refuse(head, ErrorCode.ILLEGAL_SASL_STATE, "no") if is_refused(head) else None,
        )

    @on_request(HeartbeatRequest)
    def down(self, ctx: Context, request: HeartbeatRequest) -> Steps:
        ctx.notes["kind"] = kind = request.group_id
        match kind:
            case "sleep":
                yield from sleep(request)
            case "wait":
                yield from wait(request)
            case "ask":
                yield Ask(FindCoordinatorRequest(coordinator_keys=["g"]), 4)
            case "sleep and reply":
                yield Sleep(1)
                return Reply(HeartbeatResponse(error_code=27))
        return WAYS[kind](request) if kind in WAYS else None

    @on_response(HeartbeatResponse)
    def up(self, ctx: Context, response: HeartbeatResponse) -> Steps:
        kind = ctx.notes["kind"]
        if response.error_code == FAILING:
            raise ValueError("boom")
        if kind == "hold it":
            yield Sleep(1)
        return WAYS_BACK[kind](response) if kind in WAYS_BACK else None

    @on_unsupported(ApiVersionsRequest)
    def unknown(self, ctx: Context) -> Decision:
        return Reply(ApiVersionsResponse(error_code=35, api_keys=[]), version=0)


def is_refused(head: Head) -> bool:
    return head[1] >> 16 == LIST_GROUPS.key


KINDS: dict[str, Callable[[int], bytes]] = {
    "metadata": metadata,
    "produce": lambda n: produce(n, acks=1),
    "acks 0": lambda n: produce(n, acks=0),
    "future": lambda n: FUTURE % n.to_bytes(4, "big"),
    "unknown": lambda n: UNKNOWN % n.to_bytes(4, "big"),
    "refused": lambda n: asking(ListGroupsRequest(), n),
    "unreadable": lambda n: heartbeat(n)[:18] + b"\xff" + heartbeat(n)[19:],
    **{
        kind: (lambda n, kind=kind: heartbeat(n, kind))  # type: ignore[misc]
        for kind in (*WAYS, *WAYS_BACK, "sleep", "wait", "ask", "fails", "hold it", "sleep and reply")
    },
}
ENDING = {kind for kind in KINDS if any(word in kind for word in ("cut", "reset", "close", "hole", "disconnect"))}
ENDING |= {"unknown", "unreadable", "fails", "last", "lose it", "refused", "raise at it"}
STRANGE = {"future", "unknown", "refused"}  # no filter chain counts them


class Conversation:
    """A link whose client sends everything and whose broker answers everything, until one of them dies."""

    def __init__(self, kinds: list[str]) -> None:
        self.watching, self.clock = Watching(), Clock()
        self.filters = Filters([self.watching, Doing()])
        self.link = Link(connection(), self.filters, Limits(in_flight=3), clock=self.clock)
        self.link.begin()
        self.kinds = kinds
        self.from_client = b"".join(KINDS[kind](number) for number, kind in enumerate(kinds))
        self.from_broker = b""
        self.at_broker = b""
        self.at_client = b""
        self.taken: list[int] = []  # requests that reached the broker
        self.tokens: list[int] = []

    def step(self, what: str, size: int) -> None:
        self.clock.now += 1
        if self.link.closed:
            return
        if what == "client":
            data, self.from_client = self.from_client[:size], self.from_client[size:]
            self.do(from_client(self.link, data) if data else [])
        elif what == "broker":
            data, self.from_broker = self.from_broker[:size], self.from_broker[size:]
            self.do(from_broker(self.link, data) if data else [])
        elif what == "time" and self.tokens:
            self.do(self.link.wake(self.tokens.pop(size % len(self.tokens))))
        elif what == "client dies":
            self.do(self.link.client_closed())
        elif what == "broker dies":
            self.do(self.link.broker_closed())

    def do(self, commands: list[Any]) -> None:
        for command in commands:
            if isinstance(command, ToClient):
                self.at_client += bytes(command.data)
            elif isinstance(command, ToBroker):
                self.at_broker += bytes(command.data)
            elif isinstance(command, Wake | Await):
                self.tokens.append(command.token)
        for number, key in frames(self.at_broker, REQUEST_HEAD):
            self.answer(number, key)
        self.at_broker = rest(self.at_broker)

    def answer(self, number: int, key: int) -> None:
        if key >> 16 == FindCoordinatorRequest.api.key:
            self.from_broker += answering(FindCoordinatorResponse(coordinators=[]), number)
            return
        self.taken.append(number)
        if key >> 16 == METADATA.key:
            self.from_broker += metadata_answer(number)
        elif key >> 16 == PRODUCE.key:
            self.from_broker += b"" if self.kinds[number] == "acks 0" else produce_answer(number)
        else:
            error = FAILING if self.kinds[number] == "fails" else 0
            self.from_broker += answering(HeartbeatResponse(error_code=error), number, key & 0xFFFF)

    def check(self) -> None:
        """Check what holds for every conversation, after the release of the link."""
        told, answered = self.watching.told, [number for number, _ in frames(self.at_client, RESPONSE_HEAD)]
        assert answered == sorted(set(answered)), "answers in the order of requests, each once"
        numbers = [number for number, _ in told]
        assert len(numbers) == len(set(numbers)), "one outcome each"
        assert set(numbers) >= set(self.taken) | set(answered)
        met = sum(chain.requests for chain in self.filters.table.values())
        assert met == sum(self.kinds[number] not in STRANGE for number in numbers), "an outcome for each that was met"
        assert {number for number, outcome in told if outcome.by is not By.NOBODY} >= set(answered)
        for number, outcome in told:
            check_moments(outcome)
            assert (outcome.why is None) == (outcome.by is By.BROKER)
            held = [before for each, before in self.watching.before if each == number]
            assert len(held) <= 1
            if outcome.by is not By.NOBODY and self.kinds[number] not in ("produce", "future"):
                assert held == [outcome._replace(left=None)]
        assert [type(event) for event in self.watching.events] == [Connected, Closed]


def check_moments(outcome: Outcome) -> None:
    moments = [outcome.came, outcome.sent, outcome.answered, outcome.left]
    known = [moment for moment in moments if moment is not None]
    assert known == sorted(known)


def frames(data: bytes, head: Any) -> Iterator[tuple[int, int]]:
    """The correlation ids of complete frames, and the API keys of requests."""
    while len(data) >= SIZE.size and len(data) >= SIZE.size + SIZE.unpack_from(data)[0]:
        fields = head.unpack_from(data)
        yield fields[-1], fields[1]
        data = data[SIZE.size + fields[0] :]


def rest(data: bytes) -> bytes:
    """The bytes after the complete frames."""
    while len(data) >= SIZE.size and len(data) >= SIZE.size + SIZE.unpack_from(data)[0]:
        data = data[SIZE.size + SIZE.unpack_from(data)[0] :]
    return data


@settings(max_examples=500)
@given(
    kinds=st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=10),
    steps=st.lists(st.tuples(st.sampled_from(["client", "broker", "time"]), st.integers(1, 150)), max_size=80),
    death=st.sampled_from(["client dies", "broker dies", "aborted"]),
)
def test_every_request_has_exactly_one_outcome_whenever_the_link_dies(
    kinds: list[str], steps: list[tuple[str, int]], death: str
) -> None:
    conversation = Conversation(kinds)
    for what, size in steps:
        conversation.step(what, size)
    conversation.step(death, 0)
    conversation.link.release("over")
    conversation.check()


@settings(max_examples=200)
@given(
    kinds=st.lists(st.sampled_from(sorted(set(KINDS) - ENDING)), min_size=1, max_size=10),
    size=st.integers(1, 150),
)
def test_where_nobody_ends_it_every_request_that_has_an_answer_gets_it(kinds: list[str], size: int) -> None:
    conversation = Conversation(kinds)
    for _ in range(2000):
        for what in ("client", "broker", "time"):
            conversation.step(what, size)
    answered = [number for number, _ in frames(conversation.at_client, RESPONSE_HEAD)]
    conversation.link.release()
    conversation.check()
    assert answered == [number for number, kind in enumerate(kinds) if kind != "acks 0"]
    assert len(conversation.watching.told) == len(kinds)


class OneApi(Plugin):
    """Makes the same decision on all requests, or all responses, of one API."""

    def __init__(self, api: Api, way: str) -> None:
        self.api, self.way = api, way

    def handlers(self, position: int = 0) -> list[Handler]:
        if self.way not in WAYS_BACK:
            return [Handler(self.down, Wish(Request, self.api.request, None), position)]
        return [Handler(self.up, Wish(Response, self.api.response, None), position)]

    def down(self, ctx: Context, request: Request) -> Decision | Steps:
        if self.way == "sleep":
            return sleep(request)
        if self.way == "wait":
            return wait(request)
        if self.way in ("version", "both"):
            return Forward(request, version=max(self.api.newest - 1, 0), copies=2)
        return WAYS[self.way](request)

    def up(self, ctx: Context, response: Response) -> Decision:
        return WAYS_BACK[self.way](response)


@pytest.mark.parametrize("way", ["sleep", "wait", *WAYS, *WAYS_BACK])
def test_each_request_of_every_api_has_exactly_one_outcome(way: str) -> None:
    """Also of those that only brokers may send: such a request ends its connection."""
    for api in APIS.values():
        request = blank(api.request)
        if api is PRODUCE:
            request.acks = 1  # type: ignore[attr-defined]
        watching, clock = Watching(), Clock()
        link = Link(connection(), Filters([watching, OneApi(api, way)]), clock=clock)
        link.begin()
        commands, sent, left = from_client(link, asking(request, 7, api.newest)), b"", 0
        for _ in range(100):
            clock.now += 1
            left += sum(len(each.data) for each in commands if isinstance(each, ToClient))
            if link.closed:
                break
            sent += b"".join(bytes(each.data) for each in commands if isinstance(each, ToBroker))
            tokens = [each.token for each in commands if isinstance(each, Wake | Await)]
            commands = []
            for _, key in frames(sent, REQUEST_HEAD):
                commands += from_broker(link, answering(blank(api.response), 7, key & 0xFFFF))
            sent = rest(sent)
            for token in tokens:
                commands += link.wake(token)
        link.release("over")
        ((number, outcome),) = watching.told
        assert number == 7
        check_moments(outcome)
        assert outcome.request_bytes == len(asking(request, 7, api.newest))
        assert (outcome.by is By.NOBODY) == (outcome.left is None)
        assert outcome.response_bytes == (0 if outcome.by is By.NOBODY else left)
        assert [type(event) for event in watching.events] == [Connected, Closed]
