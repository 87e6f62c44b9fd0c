"""All bytes give a message or a ProtocolError: for whole messages, some fields, the first fields, and headers.

A message that was read can be written, and read again as the same message, in bytes and in JSON.
"""

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from proxy.protocol import from_json, to_json
from proxy.protocol.codec import BAD_BYTES, decode, encode, skipper
from proxy.protocol.header import read_request_header, read_response_header, request_body_offset, request_frame
from proxy.protocol.picker import picker
from proxy.protocol.problem import ProtocolError
from proxy.protocol.schema import Message, Request, Struct
from tests.proxy.protocol.generate import EVERY, make, structs_of

LITTLE, MUCH = 4_000, 100_000
TELLING = [0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF]  # bytes that lengths, counts and varints turn on

rounds = pytest.mark.parametrize("rounds", [LITTLE, pytest.param(MUCH, marks=pytest.mark.long)])


def mutated(data: bytes, dice: random.Random) -> bytes:
    """The same bytes with a few of them changed, cut, repeated, left out or put in."""
    bad = bytearray(data)
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(bad) + 1)
        match dice.randrange(8):
            case 0:
                del bad[at:]
            case 1:
                del bad[at : at + dice.randint(1, 8)]
            case 2:
                bad[at:at] = dice.randbytes(dice.randint(1, 8))
            case 3:
                bad[at:at] = bad[max(0, at - dice.randint(1, 20)) : at]
            case 4 if at < len(bad):
                bad[at] ^= 1 << dice.randrange(8)
            case _ if at < len(bad):
                bad[at] = dice.choice(TELLING)
    return bytes(bad)


def cases(rounds: int) -> Iterator[tuple[type[Message], int, bytes, random.Random]]:
    """Messages of all kinds, mutated; the same ones in each run."""
    dice = random.Random(rounds)
    for n in range(rounds):
        cls, version = EVERY[n % len(EVERY)]
        yield cls, version, encode(make(cls, version, dice), version), dice


def outcome(read: Callable[..., Any], *args: Any) -> Any:
    """What a function returns, or the ProtocolError that it raises; any other exception is a failure."""
    try:
        return read(*args)
    except ProtocolError as problem:
        return problem


def repeats_a_tag(struct: Struct) -> bool:
    """Does an unknown tag come twice? JSON has room for one."""
    tags = [tag for tag, _ in struct.unknown_tags]
    return len(set(tags)) < len(tags)


@rounds
def test_mutated_bytes_give_a_message_that_stays_the_same_or_a_protocol_error(rounds: int) -> None:
    read = 0
    for cls, version, body, dice in cases(rounds):
        data = mutated(body, dice)
        message = outcome(decode, cls, version, data)
        if isinstance(message, ProtocolError):
            assert (message.api, message.version) == (cls.title(), version)
            assert message.position is not None
            continue
        read += 1
        written = encode(message, version)
        assert encode(decode(cls, version, written), version) == written, (cls, version, data.hex())
        if not any(repeats_a_tag(struct) for struct in structs_of(message)):
            again = from_json(cls, version, to_json(message, version))
            assert encode(again, version) == written, (cls, version, data.hex())
    assert rounds / 20 < read < rounds


@rounds
def test_picked_fields_of_mutated_bytes_are_there_or_a_protocol_error(rounds: int) -> None:
    for cls, version, body, dice in cases(rounds):
        pick = picker(cls, version, *(field.name for field in cls.fields[:: dice.randint(1, 3)]))
        if not pick.wanted:
            continue
        data = mutated(body, dice)
        pick.prefix(data, 0)
        picked = outcome(pick.decode, data)
        if not isinstance(picked, ProtocolError):
            written = pick.encode(picked)
            assert pick.encode(pick.decode(written)) == written, (cls, version, data.hex())


@rounds
def test_the_end_of_mutated_bytes_is_found_or_is_not_there(rounds: int) -> None:
    for cls, version, body, dice in cases(rounds):
        data = mutated(body, dice)
        whole = not isinstance(outcome(decode, cls, version, data), ProtocolError)
        try:
            end = skipper(cls, version)(data, 0)
        except BAD_BYTES:
            assert not whole, (cls, version, data.hex())
        else:
            assert end == len(data) or not whole, (cls, version, data.hex())


@rounds
def test_mutated_headers_are_headers_or_a_protocol_error(rounds: int) -> None:
    for cls, version, body, dice in cases(rounds):
        assert cls.api is not None
        message = decode(cls, version, body)
        frame = request_frame(message, version, 7, "me") if isinstance(message, Request) else b"\0\0\0\7" * 2 + body
        data = mutated(frame[4:40], dice)
        request_body_offset(cls.api, version, data, 0)
        for found in outcome(read_request_header, data), outcome(read_response_header, cls.api, version, data):
            assert isinstance(found, ProtocolError) or 4 <= found[1] <= len(data), (cls, version, data.hex())
