"""Message exchange: a client and a broker that exchange whole messages, with plugins between them.

    exchange = MessageExchange(build(Masking, field="card"))
    assert exchange.ask(request, 9) == changed      # the request as it reaches the broker
    assert exchange.answer(response, 9) == response

A `Playbook` compares bytes and the order of commands; here a test looks at messages alone.

Rules:
* The turns of other connections are over at once. If a handler waits for anything else, nothing leaves, and that is an
  AssertionError: use a `Playbook`.
"""

from __future__ import annotations

from typing import Any

from proxy.core.commands import Close, Command, ToBroker, ToClient
from proxy.core.context import Connection
from proxy.core.filters import Filters
from proxy.core.link import Link
from proxy.core.plugin import Plugin
from proxy.protocol.api import APIS
from proxy.protocol.codec import decode
from proxy.protocol.frame import SIZE, Buffer
from proxy.protocol.header import read_request_header, read_response_header, request_frame, response_frame
from proxy.protocol.schema import Request, Response
from proxy.testing.lending import from_broker, from_client, with_turns
from proxy.testing.playbook import connection


class MessageExchange:
    """A client, a broker, and these plugins between them. `turns`: how often other connections had their turn."""

    def __init__(self, *plugins: Plugin, client: Connection | None = None) -> None:
        self.connection = client or connection()
        self.link = Link(self.connection, Filters(plugins))
        self.link.begin()
        self.turns = 0

    def ask(self, request: Request, version: int, number: int = 1) -> Any:
        """The client sends a request with this correlation id.

        Returns the Request that the broker gets, or the Response that the client gets at once, or the reason for which
        the connection is closed (a str).
        """
        frame = _own(request_frame(request, version, number, "app"))
        return self._left(from_client(self.link, frame), request, version)

    def answer(self, response: Response, version: int, number: int = 1) -> Any:
        """The broker sends a response. Returns the Response that the client gets, or what `ask` may return instead."""
        frame = _own(response_frame(response, version, number))
        return self._left(from_broker(self.link, frame), response, version)

    def _left(self, commands: list[Command], message: Request | Response, version: int) -> Any:
        commands, turns = with_turns(self.link, commands)
        self.turns += turns
        if frame := _sent(commands, ToBroker):
            header, body = read_request_header(frame)
            return decode(APIS[header.request_api_key].request, header.request_api_version, frame[body:])
        if frame := _sent(commands, ToClient):
            api = type(message).api
            _, body = read_response_header(api, version, frame)
            return decode(api.response, version, frame[body:])
        for command in commands:
            if isinstance(command, Close):
                return command.reason
        raise AssertionError(f"nothing left: {commands}")


def _own(frame: bytes) -> Buffer:
    """A frame in memory of its own, as `net` reads it."""
    return bytearray(frame)


def _sent(commands: list[Command], side: type[ToBroker] | type[ToClient]) -> bytes:
    """The frame that these commands send to one side, without its size; empty if they send none."""
    return b"".join(bytes(command.data) for command in commands if isinstance(command, side))[SIZE.size :]
