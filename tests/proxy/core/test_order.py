"""Requests and responses keep their order and none is lost, however frames are split and whichever plugins wait."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.core.commands import (
    Command,
    PauseBroker,
    PauseClient,
    ResumeBroker,
    ResumeClient,
    ToBroker,
    ToClient,
    Wake,
)
from proxy.core.context import Context
from proxy.core.decisions import Ask, Forward, Reply, Sleep, Steps
from proxy.core.decorators import on_request, on_response
from proxy.core.filters import Filters
from proxy.core.limits import Limits
from proxy.core.link import Link
from proxy.core.plugin import Plugin
from proxy.protocol.frame import REQUEST_HEAD, SIZE
from proxy.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from proxy.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from proxy.testing import connection, from_broker, from_client
from tests.proxy.core.frames import answering, heartbeat, heartbeat_answer, metadata, metadata_answer, produce

SLOW = 6  # the error of responses that wait


class Everything(Plugin):
    """Handles a Heartbeat as its group id says, and makes some responses wait."""

    @on_request(HeartbeatRequest)
    def down(self, ctx: Context, request: HeartbeatRequest) -> Steps:
        if request.group_id == "forward":
            request.group_id = "forwarded"
            return Forward(request)
        if request.group_id == "reply":
            return Reply(HeartbeatResponse(error_code=ctx.correlation_id % 100))
        if request.group_id == "sleep":
            yield Sleep(1)
        if request.group_id == "ask":
            yield Ask(FindCoordinatorRequest(coordinator_keys=["g"]), 4)
            yield Ask(FindCoordinatorRequest(coordinator_keys=["g"]), 4)
        return None

    @on_response(HeartbeatResponse)
    def up(self, ctx: Context, response: HeartbeatResponse) -> Steps:
        if response.error_code == SLOW:
            yield Sleep(1)
        return None


KINDS = {
    "metadata": metadata,
    "produce": lambda n: produce(n, acks=1),
    "acks 0": lambda n: produce(n, acks=0),
    "slow": lambda n: heartbeat(n, "slow"),
    **{kind: (lambda n, kind=kind: heartbeat(n, kind)) for kind in ("pass", "forward", "reply", "sleep", "ask")},
}


class Simulation:
    """A link between a client that sends everything and a broker that answers everything."""

    def __init__(self, kinds: list[str]) -> None:
        self.link = Link(connection(), Filters([Everything()]), Limits(in_flight=3))
        self.from_client = b"".join(KINDS[kind](number) for number, kind in enumerate(kinds))
        self.from_broker = bytearray()
        self.arrived = bytearray()  # at the broker: an incomplete frame
        self.asked: list[int] = []
        self.client = b""
        self.tokens: list[int] = []
        self.paused = {"client": False, "broker": False}
        self.kinds = kinds

    def step(self, who: str, size: int) -> None:
        if who == "time" and self.tokens:
            self.carry_out(self.link.wake(self.tokens.pop(0)))
        elif who == "client" and self.from_client and not self.paused["client"]:
            data, self.from_client = self.from_client[:size], self.from_client[size:]
            self.lend(from_client, data)
        elif who == "broker" and self.from_broker and not self.paused["broker"]:
            data = bytes(self.from_broker[:size])
            del self.from_broker[:size]
            self.lend(from_broker, data)

    def lend(self, receive, data: bytes) -> None:  # type: ignore[no-untyped-def]
        buffer = bytearray(data)
        self.carry_out(receive(self.link, buffer))
        buffer[:] = b"\xee" * len(buffer)

    def carry_out(self, commands: list[Command]) -> None:
        for command in commands:
            match command:
                case ToClient(data):
                    self.client += bytes(data)
                case ToBroker(data):
                    self.arrived += data
                    self.answer()
                case Wake(token, _):
                    self.tokens.append(token)
                case PauseClient() | ResumeClient():
                    self.paused["client"] = isinstance(command, PauseClient)
                case PauseBroker() | ResumeBroker():
                    self.paused["broker"] = isinstance(command, PauseBroker)
                case _:
                    raise AssertionError(command)

    def answer(self) -> None:
        while len(self.arrived) >= SIZE.size:
            length = SIZE.size + SIZE.unpack_from(self.arrived)[0]
            if len(self.arrived) < length:
                return
            frame = bytes(self.arrived[:length])
            del self.arrived[:length]
            _, key, number = REQUEST_HEAD.unpack_from(frame)
            if key >> 16 == FindCoordinatorRequest.api.key:
                self.from_broker += answering(FindCoordinatorResponse(coordinators=[]), number)
                continue
            self.asked.append(number)
            kind = self.kinds[number]
            assert frame == (heartbeat(number, "forwarded") if kind == "forward" else KINDS[kind](number))
            self.from_broker += expected(number, kind)

    @property
    def done(self) -> bool:
        return not self.from_client and not self.from_broker and not self.tokens


def expected(number: int, kind: str) -> bytes:
    """The response to a request of this kind."""
    if kind == "acks 0":
        return b""
    if kind == "metadata":
        return metadata_answer(number)
    if kind == "slow":
        return heartbeat_answer(number, SLOW)
    if kind == "reply":
        return heartbeat_answer(number, number % 100)
    return heartbeat_answer(number, 1)  # to Produce as well: no plugin reads it


@settings(max_examples=300)
@given(
    kinds=st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=12),
    steps=st.lists(st.tuples(st.sampled_from(["client", "broker", "time"]), st.integers(1, 200)), max_size=60),
)
def test_requests_and_answers_keep_their_order(kinds: list[str], steps: list[tuple[str, int]]) -> None:
    simulation = Simulation(kinds)
    for who, size in steps:
        simulation.step(who, size)
    for _ in range(200):
        for who in ("client", "broker", "time"):
            simulation.step(who, 1000)
    assert simulation.done, "somebody still waits"
    assert simulation.client == b"".join(expected(number, kind) for number, kind in enumerate(kinds))
    assert simulation.asked == [number for number, kind in enumerate(kinds) if kind != "reply"]
    assert not simulation.link.inflight.slots
