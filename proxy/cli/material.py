"""The input of `decode`: hex, frames or JSON lines -> pieces of bytes, each with what is known about it.

Rules:
* A frame is a size, a header and a body. Frames stand one after the other, as on the wire.
* Hex may also be one frame without its size.
* A JSON line is one message: {"api": "Metadata" or 3, "version": 12, "side": "request", "hex" or "base64": its body}.
"""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

from proxy.protocol.api import APIS, PRODUCE, Api, api_named
from proxy.text.strict_json import strict_json

MessageSide = Literal["request", "response"]
SIDES = ("request", "response")
SIZE_BYTES = 4
LONGEST = 100  # characters of API:VERSION


class MaterialError(Exception):
    """Input that cannot be read as bytes of a message. It says why, and what to give instead."""


@dataclass(frozen=True, slots=True)
class MessageType:
    """The API, version and side of some bytes."""

    side: MessageSide
    api: Api
    version: int


@dataclass(frozen=True, slots=True)
class Piece:
    """The bytes of one message. `kind` is None for a request with a header, which names its API. `bare`: no header."""

    label: str
    data: bytes
    kind: MessageType | None = None
    bare: bool = False


def kind(side: MessageSide, text: str) -> MessageType:
    """`API:VERSION`, as in "Metadata:12" or "3:12"."""
    name, colon, version = text.partition(":")
    if not colon or not version.isdecimal() or len(text) > LONGEST:
        raise MaterialError(f'"{text[:LONGEST]}" is not API:VERSION; write e.g. "Metadata:12"')
    return MessageType(side, api(int(name) if name.isdecimal() else name), int(version))


def api(name: object) -> Api:
    """An API by its name or key."""
    if isinstance(name, int) and name in APIS:
        return APIS[name]
    found = api_named(name) if isinstance(name, str) else None
    if found is not None:
        return found
    close = get_close_matches(str(name), [it.name for it in APIS.values()], 1)
    way_out = f'did you mean "{close[0]}"?' if close else f"keys are 0 to {max(APIS)}"
    raise MaterialError(f"unknown API {json.dumps(name)}; {way_out}")


def unhex(text: str) -> bytes:
    """Hex digits, with any spaces, line ends, colons or "0x" among them."""
    digits = text.replace("0x", "").replace(":", "").replace("\\x", "")
    try:
        return bytes.fromhex(digits)
    except ValueError as error:
        raise MaterialError(f"not hex ({str(error).removesuffix('.')}); give pairs of 0-9 and a-f") from None


def is_one_frame(data: bytes, known: MessageType | None) -> bool:
    """Are these bytes one frame without its size? Yes if they do not split by sizes and do not start like a size."""
    try:
        for _ in frames(data):
            pass
    except MaterialError:
        if known is not None:
            return True
        key, version = (int.from_bytes(data[at : at + 2], signed=True) for at in (0, 2))
        return key != PRODUCE.key or version in PRODUCE.versions  # a size below 64 KiB looks like the key of Produce
    return False


def frames(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The frames in `data`, without their sizes, each with a name for people."""
    position, number = 0, 0
    while position < len(data):
        number += 1
        start = position + SIZE_BYTES
        size, left = int.from_bytes(data[position:start], signed=True), len(data) - start
        if left < 0 or not 0 <= size <= left:
            fact = f"frame {number} at byte {position} says {size} bytes where {left} are left"
            if left < 0:
                fact = f"frame {number} at byte {position} ends within its size"
            raise MaterialError(f"{fact}; give whole frames")
        yield f"frame {number}", data[start : start + size]
        position = start + size


def json_line(text: str, label: str) -> Piece:
    """One JSON line."""
    try:
        line: Any = strict_json(text)
    except (ValueError, RecursionError) as error:
        raise MaterialError(f"not JSON ({error}); see doorkeeper decode --help") from None
    if not isinstance(line, dict) or not {"api", "version"} <= line.keys() or not {"hex", "base64"} & line.keys():
        raise MaterialError('a line needs "api", "version", "side", and "hex" or "base64"')
    if {"hex", "base64"} <= line.keys():
        raise MaterialError('both "hex" and "base64" stand in one line; keep one of the two')
    if not isinstance(line["api"], str) and type(line["api"]) is not int:
        raise MaterialError(f'"api" is {json.dumps(line["api"])}; write a name or a key')
    side, version = line.get("side", "request"), line["version"]
    if side not in SIDES:
        raise MaterialError(f'"side" is {json.dumps(side)}; write "request" or "response"')
    if type(version) is not int:
        raise MaterialError(f'"version" is {json.dumps(version)}; write a number')
    return Piece(label, _bytes(line), MessageType(side, api(line["api"]), version), bare=True)


def _bytes(line: dict[str, Any]) -> bytes:
    if "hex" in line:
        return unhex(str(line["hex"]))
    try:
        return base64.b64decode(str(line["base64"]), validate=True)
    except ValueError as error:
        raise MaterialError(f'"base64" is none ({error}); give standard base64') from None
