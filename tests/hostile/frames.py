"""Frames that no Kafka client sends: other protocols, impossible sizes, unknown APIs and versions."""

from __future__ import annotations

import struct

from tests.hostile.ground import Ground
from tests.hostile.settings import OPEN
from tests.hostile.trial import cases

HEAD = struct.Struct(">ihhi")
FIRST = {
    "HTTP": b"GET / HTTP/1.1\r\nHost: kafka\r\n\r\n",
    "TLS on a plain port": bytes.fromhex("16030100c8010000c40303") + bytes(200),
    "SSH": b"SSH-2.0-OpenSSH_9.2\r\n",
    "a frame of -1 bytes": HEAD.pack(-1, 12, 4, 1),
    "a frame of -2^31 bytes": HEAD.pack(-(2**31), 12, 4, 1),
    "a frame of no bytes": HEAD.pack(0, 12, 4, 1),
    "a frame of 3 bytes": HEAD.pack(3, 12, 4, 1),
    "a frame of 7 bytes": HEAD.pack(7, 12, 4, 1),
    "a frame of 2 GiB": HEAD.pack(2**31 - 1, 0, 9, 1),
    "a frame one byte over the limit": HEAD.pack((100 << 20) + 1, 0, 9, 1),
    "an API that nobody knows": HEAD.pack(8, 9999, 0, 1),
    "API -1": HEAD.pack(8, -1, 0, 1),
    "API 32767 with version -32768": HEAD.pack(8, 32767, -32768, 1),
    "a version of the future": HEAD.pack(8, 12, 99, 1),
    "a negative version": HEAD.pack(8, 12, -1, 1),
    "an Envelope, which is for controllers": HEAD.pack(8, 58, 0, 1) + bytes(40),
    "zeros": bytes(1 << 16),
    "0xff": b"\xff" * (1 << 16),
    "a proxy protocol header": b"PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\n",
}


@cases(FIRST, on=OPEN)
def begins_with(ground: Ground, data: bytes) -> str:
    """Many clients send it at once; each connection is closed."""
    many = [ground.client() for _ in range(ground.times(10, 200))]
    for client in many:
        client.send(data)
    for client in many:
        client.ends()
    return f"{len(many)} times: closed"
