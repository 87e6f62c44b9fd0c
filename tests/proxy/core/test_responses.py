"""Responses that plugins handle: their decisions, and what happens when a handler fails."""

from collections.abc import Iterator
from typing import Any

import pytest

from proxy.core.commands import Close, Emit, PauseBroker, ResumeBroker, ToBroker, ToClient, Wake
from proxy.core.context import Context
from proxy.core.decisions import Ask, Decision, Disconnect, Forward, Reply, Sleep, Steps
from proxy.core.decorators import on_request, on_response
from proxy.core.events import HandlerFailed
from proxy.core.filters import Filters
from proxy.core.link import Link
from proxy.core.plugin import Plugin
from proxy.core.wish import Handler, Wish, carrying
from proxy.protocol.api import HEARTBEAT, METADATA
from proxy.protocol.codec import decode
from proxy.protocol.messages.fetch import FetchRequest, FetchResponse
from proxy.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from proxy.protocol.messages.metadata import MetadataResponse
from proxy.protocol.schema import Request, Response
from proxy.protocol.wire import Meaning
from proxy.testing import FromBroker, FromClient, Playbook, Time, connection, from_broker, from_client
from tests.proxy.core.frames import (
    answering,
    asking,
    heartbeat,
    heartbeat_answer,
    metadata,
    metadata_answer,
)

BOOM = ValueError("boom")


class Advertising(Plugin):
    """Gives every broker another address."""

    @on_response(MetadataResponse, fields="brokers")
    def metadata(self, ctx: Context, response: MetadataResponse) -> Decision:
        for broker in response.brokers:
            broker.host = "proxy.example"
        return Forward(response)


class Delaying(Plugin):
    """Makes Heartbeat responses wait."""

    @on_response(HeartbeatResponse)
    def heartbeat(self, ctx: Context, response: HeartbeatResponse) -> Steps:
        yield Sleep(2)
        response.error_code = 27
        return Forward(response)


class Doing(Plugin):
    """Handles Heartbeat responses as the test says."""

    def __init__(self, do: Any) -> None:
        self.do = do

    @on_response(HeartbeatResponse)
    def heartbeat(self, ctx: Context, response: HeartbeatResponse) -> Decision:
        if isinstance(self.do, Exception):
            raise self.do
        decision: Decision = self.do
        return decision


class Noting(Plugin):
    """Keeps data of the request in the notes, for the response."""

    @on_request(HeartbeatRequest, fields="group_id")
    def before(self, ctx: Context, request: HeartbeatRequest) -> None:
        ctx.notes["group"] = request.group_id

    @on_response(HeartbeatResponse)
    def after(self, ctx: Context, response: HeartbeatResponse) -> Decision:
        response.error_code = len(ctx.notes["group"])
        return Forward(response)


class Counting(Plugin):
    """Handles every response, and adds four to its error."""

    @on_response(HeartbeatResponse)
    def after(self, ctx: Context, response: HeartbeatResponse) -> Decision:
        response.error_code += 4
        return Forward(response)


class Endpoints(Plugin):
    """Wants every address; of a large Fetch response that is its last tagged field."""

    @on_response(carrying(Meaning.HOST))
    def endpoints(self, ctx: Context, response: Any) -> Decision:
        for endpoint in response.node_endpoints:
            endpoint.host = "proxy.example"
        return Forward(response)


def test_an_answer_is_rewritten_and_its_neighbours_are_not() -> None:
    assert (
        Playbook(Advertising())
        >> FromClient(heartbeat(1) + metadata(2) + heartbeat(3))
        << ToBroker(heartbeat(1) + metadata(2) + heartbeat(3))
        >> FromBroker(heartbeat_answer(1) + metadata_answer(2) + heartbeat_answer(3))
        << ToClient(heartbeat_answer(1) + metadata_answer(2, "proxy.example") + heartbeat_answer(3))
    )


def test_the_broker_is_not_read_while_an_answer_waits() -> None:
    assert (
        Playbook(Delaying())
        >> FromClient(metadata(1) + heartbeat(2) + metadata(3))
        << ToBroker(metadata(1) + heartbeat(2) + metadata(3))
        >> FromBroker(metadata_answer(1) + heartbeat_answer(2) + metadata_answer(3))
        << ToClient(metadata_answer(1))
        << Wake(0, 2)
        << PauseBroker()
        >> Time()
        << ToClient(heartbeat_answer(2, 27) + metadata_answer(3))
        << ResumeBroker()
    )


def test_requests_go_on_while_an_answer_waits() -> None:
    assert (
        Playbook(Delaying())
        >> FromClient(heartbeat(1))
        << ToBroker(heartbeat(1))
        >> FromBroker(heartbeat_answer(1))
        << Wake(0, 2)
        << PauseBroker()
        >> FromClient(metadata(2))
        << ToBroker(metadata(2))
        >> Time()
        << ToClient(heartbeat_answer(1, 27))
        << ResumeBroker()
    )


def test_what_was_noted_on_the_request_is_there_with_its_answer() -> None:
    assert (
        Playbook(Noting())
        >> FromClient(heartbeat(1, "four") + heartbeat(2, "seven77"))
        << ToBroker(heartbeat(1, "four") + heartbeat(2, "seven77"))
        >> FromBroker(heartbeat_answer(1) + heartbeat_answer(2))
        << ToClient(heartbeat_answer(1, 4) + heartbeat_answer(2, 7))
    )


class Choosing(Plugin):
    """Needs only the responses to requests of one group, and changes these."""

    def handlers(self, position: int = 0) -> Iterator[Handler]:
        yield Handler(self.before, Wish(Request, HeartbeatRequest, None), position)
        yield Handler(self.after, Wish(Response, HeartbeatResponse, None), position, lambda ctx: "seen" in ctx.notes)

    def before(self, ctx: Context, request: HeartbeatRequest) -> None:
        if request.group_id == "mine":
            ctx.notes["seen"] = True

    def after(self, ctx: Context, response: HeartbeatResponse) -> Decision:
        response.error_code = 27
        return Forward(response)


def test_an_answer_that_no_handler_needs_passes_unread() -> None:
    unreadable = b"\0\0\0\6\0\0\0\1\0\xff"
    assert (
        Playbook(Choosing())
        >> FromClient(heartbeat(1, "theirs") + heartbeat(2, "mine"))
        << ToBroker(heartbeat(1, "theirs") + heartbeat(2, "mine"))
        >> FromBroker(unreadable + heartbeat_answer(2))
        << ToClient(unreadable + heartbeat_answer(2, 27))
    )


@pytest.mark.parametrize("seen", [False, True])
def test_an_answer_that_one_handler_needs_is_shown_to_the_others_that_see_all(seen: bool) -> None:
    group, error = ("mine", 31) if seen else ("theirs", 4)
    assert (
        Playbook(Counting(), Choosing())
        >> FromClient(heartbeat(1, group))
        << ToBroker(heartbeat(1, group))
        >> FromBroker(heartbeat_answer(1))
        << ToClient(heartbeat_answer(1, error))
    )


@pytest.mark.parametrize(
    ("do", "error"),
    [
        (BOOM, "ValueError('boom')"),
        (Reply(HeartbeatResponse(error_code=1)), "changed with Forward, not with Reply"),
        (Forward(MetadataResponse(brokers=[], topics=[])), "cannot become MetadataResponse"),
        ("yes", "'yes' is no decision"),
    ],
)
def test_an_answer_on_which_a_handler_fails_is_withheld(do: Any, error: str) -> None:
    link = Link(connection(), Filters([Doing(do)]))
    from_client(link, heartbeat(1))
    emit, close = from_broker(link, heartbeat_answer(1))
    assert isinstance(emit, Emit)
    assert isinstance(emit.event, HandlerFailed)
    assert (emit.event.handler, emit.event.api) == ("Doing.heartbeat", HEARTBEAT)
    assert error in repr(emit.event.error)
    assert close == Close("Doing.heartbeat failed on a Heartbeat response")


def test_a_disconnect_withholds_the_answer_but_not_older_ones() -> None:
    assert (
        Playbook(Doing(Disconnect("enough")))
        >> FromClient(metadata(1) + heartbeat(2))
        << ToBroker(metadata(1) + heartbeat(2))
        >> FromBroker(metadata_answer(1) + heartbeat_answer(2))
        << ToClient(metadata_answer(1))
        << Close("enough")
    )


def test_a_response_handler_cannot_ask() -> None:
    class Curious(Plugin):
        @on_response(HeartbeatResponse)
        def heartbeat(self, ctx: Context, response: HeartbeatResponse) -> Steps:
            yield Ask(HeartbeatRequest(group_id="g", generation_id=1, member_id="m"))
            return None

    link = Link(connection(), Filters([Curious()]))
    from_client(link, heartbeat(1))
    emit, _ = from_broker(link, heartbeat_answer(1))
    assert isinstance(emit, Emit)
    assert isinstance(emit.event, HandlerFailed)
    assert "cannot Ask" in str(emit.event.error)


def test_an_answer_that_cannot_be_read_is_withheld() -> None:
    broken = bytearray(metadata_answer(1))
    broken[12:16] = b"\x7f\0\0\0"  # two billion brokers
    link = Link(connection(), Filters([Advertising()]))
    from_client(link, metadata(1))
    emit, close = from_broker(link, broken)
    assert isinstance(emit, Emit)
    assert emit.event.api is METADATA
    assert isinstance(close, Close)
    assert "brokers" in str(close.reason)


def fetch(number: int) -> bytes:
    return asking(FetchRequest(max_wait_ms=1, min_bytes=1, topics=[]), number, 16)


def fetch_answer(number: int, size: int, host: str | None) -> bytes:
    partition = FetchResponse.Topic.Partition(partition_index=0, error_code=0, high_watermark=1, records=b"x" * size)
    topic = FetchResponse.Topic(topic_id=bytes(16), partitions=[partition])
    response = FetchResponse(responses=[topic])
    if host is not None:
        response.node_endpoints = [FetchResponse.NodeEndpoint(node_id=1, host=host, port=9092)]
    return answering(response, number, 16)


def test_a_small_answer_with_addresses_at_its_end_is_rewritten() -> None:
    assert (
        Playbook(Endpoints())
        >> FromClient(fetch(1))
        << ToBroker(fetch(1))
        >> FromBroker(fetch_answer(1, 100, "kafka-1"))
        << ToClient(fetch_answer(1, 100, "proxy.example"))
    )


@pytest.mark.parametrize("host", [None, "kafka-1"])
@pytest.mark.parametrize("step", [1000, 65_536, 1 << 20])
def test_a_large_answer_passes_and_the_addresses_at_its_end_are_blanked(host: str | None, step: int) -> None:
    link = Link(connection(), Filters([Endpoints()]))
    from_client(link, fetch(1) + heartbeat(2))
    answer, out = fetch_answer(1, 300_000, host) + heartbeat_answer(2), b""
    pos = 0
    while pos < len(answer):
        given = from_broker(link, bytearray(answer[pos : pos + step]))
        out += b"".join(bytes(command.data) for command in given if isinstance(command, ToClient))
        pos += step
    assert len(out) == len(answer)
    assert b"kafka-1" not in out
    first = len(fetch_answer(1, 300_000, host))
    assert decode(FetchResponse, 16, out[9:first]).responses[0].partitions[0].records == b"x" * 300_000
    assert host is not None or out == answer
    assert out[first:] == heartbeat_answer(2)


def test_versions_without_the_wanted_fields_pass() -> None:
    routes = Filters([Endpoints()])
    assert routes.table[9].response is None, "Produce v9 has no endpoints"
    assert routes.table[10].response is not None
