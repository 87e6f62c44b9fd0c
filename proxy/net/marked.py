"""Marked: recognizes the question of a Doorkeeper that a client sends first, before it has a link.

Where the proxy authenticates to brokers, that comes before a link. A connection that comes back would then log us in
at the next one, and so on, and none of them would read the question that shows the loop (`loops.py`).

Rules:
* What the client sends first is looked at, and left for its link. Only a question that is not passed on is taken.
* A client that says nothing for a second is none of these: a Doorkeeper asks as soon as it is connected.
* With TLS nothing can be looked at without being taken. There a loop shows only by its silence (`paths.py`).
"""

from __future__ import annotations

import socket
from contextlib import suppress

import trio

from plugins.api_versions import LOOP
from proxy.net.asking import is_mark
from proxy.net.outgoing import AnySocket
from proxy.protocol.api import API_VERSIONS
from proxy.protocol.frame import SIZE
from proxy.protocol.header import read_request_header, response_frame
from proxy.protocol.messages.api_versions import ApiVersionsResponse
from proxy.protocol.problem import ProtocolError

FIRST_WITHIN = 1.0  # seconds
ROOM = 128  # bytes: a question has 41


async def mark_of(client: AnySocket) -> str | None:
    """The mark of the Doorkeeper that asks. None: this client is none."""
    if not isinstance(client, socket.socket):
        return None
    with trio.move_on_after(FIRST_WITHIN), suppress(OSError, ProtocolError):
        await trio.lowlevel.wait_readable(client)
        header, _ = read_request_header(client.recv(ROOM, socket.MSG_PEEK)[SIZE.size :])
        if header.request_api_key == API_VERSIONS.key and is_mark(header.client_id):
            return header.client_id
    return None


def answer_loop(client: AnySocket) -> None:
    """Answer the question of a Doorkeeper: it is part of a loop."""
    assert isinstance(client, socket.socket), "it had a mark"
    with suppress(OSError, ProtocolError):
        header, _ = read_request_header(client.recv(ROOM)[SIZE.size :])  # unread, it would have the answer discarded
        answer = ApiVersionsResponse(error_code=LOOP, api_keys=[])
        client.send(response_frame(answer, header.request_api_version, header.correlation_id))
