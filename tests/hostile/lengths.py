"""Lying lengths: counts, sizes and varints that promise more than the frame has, or less than nothing."""

from __future__ import annotations

import struct

from tests.hostile.ground import Ground
from tests.hostile.requests import produce, resized
from tests.hostile.settings import AUDITED, FAULTY, OPEN, RULED
from tests.hostile.trial import cases

NAME = b"secrets"
NAMED = struct.pack(">h", len(NAME)) + NAME
HUGE = b"\xff\xff\xff\xff\x0f"  # 2^32 - 1 as a varint
APP = b"\0\3app"
METADATA, FETCH = 3, 1


def old(body: bytes, client_id: bytes = APP, key: int = METADATA, version: int = 1) -> bytes:
    """A frame with plain lengths; by default of Metadata v1."""
    rest = struct.pack(">hhi", key, version, 1) + client_id + body
    return struct.pack(">i", len(rest)) + rest


def new(body: bytes, tags: bytes = b"\0") -> bytes:
    """A Metadata v9 frame, with compact lengths and tags."""
    return old(body, APP + tags, version=9)


def _tag(number: int) -> bytes:
    """An empty tagged field."""
    return (bytes([number & 0x7F | 0x80, number >> 7]) if number > 0x7F else bytes([number])) + b"\0"


PRODUCED = produce(["secrets"])
LIES = {
    "an array of 2^31-1 elements": old(struct.pack(">i", 2**31 - 1) + NAMED),
    "an array of -2 elements": old(struct.pack(">i", -2)),
    "two elements where there is one": old(struct.pack(">i", 2) + NAMED),
    "a compact array of 2^32 elements": new(HUGE + b"\x08" + NAME),
    "a varint of ten bytes": new(b"\xff" * 9 + b"\1" + NAME),
    "a varint that never ends": new(b"\xff" * 100_000),
    "a string longer than its frame": old(struct.pack(">ih", 1, 32_767) + NAME),
    "a compact string of 4 GiB": new(b"\2" + HUGE + NAME),
    "a string of -2 bytes": old(struct.pack(">ih", 1, -2) + NAME),
    "a name that is not UTF-8": old(struct.pack(">ih", 1, 4) + b"\xff\xfe\xc0\x80"),
    "a name with half a surrogate": old(struct.pack(">ih", 1, 3) + b"\xed\xa0\x80"),
    "a client id longer than its frame": old(NAMED, b"\x7f\xff"),
    "a client id of -2 bytes": old(NAMED, b"\xff\xfe"),
    "a client id that is not UTF-8": old(struct.pack(">i", 1) + NAMED, b"\0\2\xff\xfe"),
    "4 billion tags in a header": new(b"\1", HUGE),
    "12,800 tags in a header": new(b"\1", b"\x80\x64" + b"".join(map(_tag, range(12_800)))),
    "a tag of 4 GiB in a header": new(b"\1", b"\1\0" + HUGE),
    "the same tag twice in a header": new(b"\2\x08" + NAME + b"\0\0\0\0", b"\2\1\1x\1\1y"),
    "tags of a header in descending order": new(b"\2\x08" + NAME + b"\0\0\0\0", b"\2\2\1x\1\1y"),
    "no body at all": old(b""),
    "records longer than their frame": PRODUCED.replace(b"\x33" + b"r" * 50, HUGE + b"r" * 50),
    "records that are cut": resized(PRODUCED[:-20]),
    "a Fetch request of 2^31-1 topics": old(bytes(13) + bytes(8) + b"\x7f\xff\xff\xff" + NAMED, key=FETCH, version=11),
}


@cases(LIES, on=RULED)
@cases(LIES, on=AUDITED)
@cases(LIES, on=FAULTY)
def lies(ground: Ground, frame: bytes) -> str:
    """Where the rules must read a request, no unreadable or denied request passes."""
    return _lied(ground, frame, denied=True)


@cases({name: LIES[name] for name in list(LIES)[::5]}, on=OPEN)
def passed_lies(ground: Ground, frame: bytes) -> str:
    """Without rules the proxy does not read the frame, and the broker judges its content."""
    return _lied(ground, frame, denied=False)


def _lied(ground: Ground, frame: bytes, *, denied: bool) -> str:
    many = [ground.client() for _ in range(ground.times(5, 200))]
    for client in many:
        client.send(frame)
        client.half_close()
    told = sum(len(client.ends().told) for client in many)
    if denied:
        assert NAME not in ground.stage.heard, "what is denied reached the broker"
    return f"{len(many)} times: {'answered, then ' if told else ''}closed"
