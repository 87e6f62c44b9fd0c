"""Requests without a fault and their responses pass byte for byte: every API in every version, both directions.

Rules:
* The frames are valid, but no writer makes such frames: structs have unknown tags, and the last number takes
  one byte more than it needs. So decoding and encoding would change the bytes.
* In between, another request of the same connection has a fault.
"""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from plugins.faults.ledger import Result
from proxy.core.filters import Filters
from proxy.core.link import Link
from proxy.core.plugin import Plugin
from proxy.protocol.api import APIS, FETCH, Api
from proxy.protocol.errors import ErrorCode
from proxy.protocol.frame import SIZE
from proxy.protocol.header import request_frame, response_frame
from proxy.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from proxy.protocol.schema import blank
from proxy.testing import Close, Command, ToBroker, ToClient, Wake, connection, from_broker, from_client
from tests.plugins.faults.changed import answer_of
from tests.plugins.faults.talking import FaultFile
from tests.proxy.protocol.generate import some, structs_of

V = 4  # of Heartbeat
STRUCK = "{match: {api: Heartbeat, group: struck}, do: {error: REBALANCE_IN_PROGRESS}}"
END = "do: {disconnect: {}}"
NEVER = "when: {after: 1000000}"
UNREAD = f"faults: [{STRUCK}, {{match: {{client_id: other}}, {END}}}]"
ABOUT_OTHERS = f"""
faults:
  - {STRUCK}
  - {{match: {{topic: other}}, {END}}}
  - {{match: {{group: other}}, {END}}}
  - {{match: {{transactional_id: other}}, {END}}}
"""
LATER = f"""
faults:
  - {STRUCK}
  - {{name: to the request, {NEVER}, {END}}}
  - {{name: to the answer, {NEVER}, do: {{disconnect: {{side: after_broker}}}}}}
"""
FOR_CLIENTS = [api for api in APIS.values() if not api.inter_broker]  # others are refused


class Named(NamedTuple):
    """What a topic is called, whose id a request says."""

    topic_id: bytes
    name: str


class Frames(NamedTuple):
    """A request and its answer. `ids`: the topics that it says by their ids."""

    number: int
    request: bytes
    answer: bytes
    ids: frozenset[bytes]


def frames(api: Api, version: int) -> Frames:
    """One of each."""
    number = 100 + version
    request, answer = some(api.request, version, count(1)), answer_of(api, version)
    if api is FETCH and request.has("session_epoch"):
        request.session_id, request.session_epoch = 0, 0  # a session that is opened
    for message in (request, answer):
        make_odd(message)
    asked, answered = request_frame(request, version, number, "app"), response_frame(answer, version, number)
    if api.is_flexible(version):
        asked, answered = lengthened(asked), lengthened(answered)
    ids = (getattr(struct, "topic_id", None) for struct in structs_of(request))
    return Frames(number, asked, answered, frozenset(each for each in ids if each is not None))


def make_odd(message: Any) -> None:
    """A tag that nobody knows in each struct in it, and none in the message itself."""
    for struct in structs_of(message)[1:]:
        struct.unknown_tags = [(9_999, b"unknown")]
    fresh = blank(type(message))
    for field in type(message).fields:
        if field.tag is not None:
            setattr(message, field.name, getattr(fresh, field.name))


def lengthened(frame: bytes) -> bytes:
    """The number of tags, with which it ends, takes two bytes."""
    assert frame[-1] == 0
    return SIZE.pack(len(frame) + 1 - SIZE.size) + frame[SIZE.size : -1] + b"\x80\x00"


def struck(number: int) -> bytes:
    return request_frame(HeartbeatRequest(group_id="struck", generation_id=1, member_id="m"), V, number, "app")


def refused(number: int) -> bytes:
    return response_frame(HeartbeatResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS), V, number)


class Sides:
    """A link, and all that came to either side of it."""

    def __init__(self, plugin: Plugin) -> None:
        self.link = Link(connection(), Filters([plugin]))
        self.link.begin()
        self.broker, self.client = bytearray(), bytearray()

    def from_client(self, data: bytes) -> None:
        self._carry_out(from_client(self.link, bytearray(data)))

    def from_broker(self, data: bytes) -> None:
        self._carry_out(from_broker(self.link, bytearray(data)))

    def _carry_out(self, commands: list[Command]) -> None:
        for command in commands:
            if isinstance(command, ToBroker):
                self.broker += command.data
            elif isinstance(command, ToClient):
                self.client += command.data
            elif isinstance(command, Wake):  # long work goes on when others had their turn
                self._carry_out(self.link.wake(command.token))
            else:
                assert not isinstance(command, Close), command


def all_pass(faults: FaultFile, conversation: list[Frames]) -> None:
    """Each passes between two requests that a fault is done to."""
    faults.worker.topics.learn(Named(each, "named") for frames in conversation for each in frames.ids)
    sides = Sides(faults.plugin)
    for frames in conversation:
        sides.broker.clear()
        sides.client.clear()
        sides.from_client(struck(1) + frames.request + struck(2))
        assert sides.broker == frames.request, frames.number
        sides.from_broker(frames.answer)
        assert sides.client == refused(1) + frames.answer + refused(2), frames.number


@pytest.mark.parametrize("api", FOR_CLIENTS, ids=str)
def test_what_no_fault_is_done_to_passes_byte_for_byte(tmp_path: Path, api: Api) -> None:
    conversation = [frames(api, version) for version in api.versions]
    for text in (UNREAD, ABOUT_OTHERS):
        all_pass(FaultFile(tmp_path, text), conversation)
    later = FaultFile(tmp_path, LATER)
    all_pass(later, conversation)
    for fault in ("to the request", "to the answer"):  # so all were read
        read = {it.request.correlation_id for it in later.plugin.ledger.of(fault, Result.NOT_NOW) if it.request}
        assert read >= {frames.number for frames in conversation}
