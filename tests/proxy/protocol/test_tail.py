"""The tail of a large response: addresses are blanked, all other bytes pass unchanged, in any pieces."""

import contextlib
import itertools
import random

import pytest

from proxy.protocol.codec import decode, encode
from proxy.protocol.messages.fetch import FetchResponse
from proxy.protocol.messages.produce import ProduceResponse
from proxy.protocol.messages.share_fetch import ShareFetchResponse
from proxy.protocol.problem import ProtocolError
from proxy.protocol.tail import LONGEST, Tail, ends_in_tags
from proxy.protocol.varint import uvarint
from tests.proxy.protocol.generate import make

NAMES = ["node_endpoints"]


def through(tail: Tail, body: bytes, sizes, skipping: bool = False) -> bytes:
    """What a client gets of a body that comes in pieces of these sizes. `skipping`: without what it need not see."""
    out, p = b"", 0
    while p < len(body):
        n = next(sizes)
        left = tail.feed(memoryview(body)[p : p + n])
        out += body[p : p + n] if left is None else b"".join(left)
        p += n
        if skipping and p < len(body):
            skipped = tail.skips()
            out += body[p : p + skipped]
            p += skipped
    return out


def cycle(dice: random.Random, choices: list[int]):
    while True:
        yield dice.choice(choices)


@pytest.mark.parametrize("skipping", [False, True])
@pytest.mark.parametrize("sizes", [[1], [7], [1 << 20], [1, 2, 50, 1000]], ids=str)
@pytest.mark.parametrize(("cls", "version"), [(FetchResponse, 16), (FetchResponse, 18), (ProduceResponse, 10)])
def test_addresses_are_blanked_and_all_else_passes(cls, version, sizes, skipping):
    dice = random.Random(8)
    for _ in range(20):
        message = make(cls, version, dice)
        message.unknown_tags = [(9, b"kept")]
        message.node_endpoints = [cls.NodeEndpoint(node_id=1, host="inside", port=9092)]
        body = encode(message, version)
        out = through(Tail(cls, version, NAMES, len(body)), body, cycle(dice, sizes), skipping)
        assert len(out) == len(body)
        assert b"inside" not in out
        seen = decode(cls, version, out)
        assert seen.node_endpoints == []
        assert (9, b"kept") in seen.unknown_tags
        seen.unknown_tags, message.node_endpoints = message.unknown_tags, []
        assert seen == message


def test_a_body_without_addresses_passes_byte_for_byte():
    message = make(FetchResponse, 17, random.Random(9))
    message.node_endpoints = []
    body = encode(message, 17)
    for size in (1, 100, len(body)):
        assert through(Tail(FetchResponse, 17, NAMES, len(body)), body, itertools.repeat(size)) == body


def test_what_stays_is_not_cut():
    body = memoryview(ending(uvarint(9) + uvarint(4) + b"kept"))
    tail = Tail(FetchResponse, 17, NAMES, len(body))
    assert tail.feed(body[:5]) is None
    assert tail.feed(body[5:]) is None


@pytest.mark.parametrize("cut", [1, 5, 30])
def test_a_body_that_ends_before_its_last_field_is_the_brokers_fault(cut):
    body = encode(make(FetchResponse, 17, random.Random(10)), 17)[:-cut]
    with pytest.raises(ProtocolError, match="Fetch response v17"):
        through(Tail(FetchResponse, 17, NAMES, len(body)), body, iter([len(body)]))


def test_a_tail_that_never_ends_is_not_held_for_ever():
    message = FetchResponse(responses=[])
    message.unknown_tags = [(50, bytes(2 * LONGEST))]
    body = encode(message, 17)
    with pytest.raises(ProtocolError, match="bytes of tagged fields"):
        through(Tail(FetchResponse, 17, NAMES, len(body)), body, iter([len(body)]))


def test_mutated_bodies_pass_or_are_refused():
    dice = random.Random(11)
    for _ in range(2000):
        body = bytearray(encode(make(FetchResponse, 17, dice), 17))
        body[dice.randrange(len(body))] = dice.randrange(256)
        passed: list[bytes | None] = [None, None]
        for skipping in (False, True):
            with contextlib.suppress(ProtocolError):
                tail = Tail(FetchResponse, 17, NAMES, len(body))
                passed[skipping] = through(tail, bytes(body), cycle(dice, [3, 500]), skipping)
        assert passed[0] == passed[1]
        assert passed[0] is None or len(passed[0]) == len(body)


def test_only_fields_behind_all_others_can_be_seen_to_in_passing():
    assert ends_in_tags(FetchResponse, NAMES)
    assert not ends_in_tags(ShareFetchResponse, NAMES)


INSIDE = uvarint(2) + uvarint(1) + uvarint(7) + b"inside" + bytes(4)  # about what a field of addresses holds


def ending(*tags: bytes, count: int | None = None) -> bytes:
    """A Fetch response of no topics, with these tagged fields."""
    body = encode(FetchResponse(responses=[]), 17)
    assert body.endswith(b"\0")
    return body[:-1] + uvarint(len(tags) if count is None else count) + b"".join(tags)


def overlong(number: int, size: int) -> bytes:
    """A number in more bytes than it needs, which Kafka's clients read all the same."""
    return uvarint(number)[:-1] + bytes([uvarint(number)[-1] | 0x80]) + b"\x80" * (size - 2) + b"\0"


@pytest.mark.parametrize("size", [2, 3, 5])
def test_a_size_in_more_bytes_than_it_needs_hides_nothing(size):
    body = ending(uvarint(0) + overlong(len(INSIDE), size) + INSIDE, uvarint(9) + uvarint(4) + b"kept")
    out = through(Tail(FetchResponse, 17, NAMES, len(body)), body, iter([len(body)]))
    assert b"inside" not in out
    assert out.endswith(b"kept")
    assert len(out) == len(body)


def test_addresses_that_are_there_twice_are_blanked_twice():
    body = ending(*[uvarint(0) + uvarint(len(INSIDE)) + INSIDE] * 2)
    out = through(Tail(FetchResponse, 17, NAMES, len(body)), body, iter([len(body)]))
    assert b"inside" not in out


@pytest.mark.parametrize(
    "body",
    [
        ending(overlong(0, 2) + uvarint(len(INSIDE)) + INSIDE, uvarint(9) + uvarint(4) + b"kept"),
        ending(overlong(0, 5) + uvarint(len(INSIDE)) + INSIDE),
        ending(uvarint(0) + uvarint(2**31) + INSIDE),
        ending(uvarint(0) + uvarint(len(INSIDE) + 1) + INSIDE),
        ending(uvarint(0) + uvarint(len(INSIDE) - 1) + INSIDE),
        ending(uvarint(0) + uvarint(len(INSIDE)) + INSIDE, count=2),
        ending(uvarint(0) + uvarint(len(INSIDE)) + INSIDE, count=0),
        ending(*[uvarint(0) + uvarint(0)] * 200),
        ending(uvarint(0) + uvarint(len(INSIDE)) + INSIDE, count=2**31),
    ],
)
def test_tagged_fields_that_cannot_be_read_do_not_pass(body):
    tail, out = Tail(FetchResponse, 17, NAMES, len(body)), bytearray()

    def pass_through() -> None:
        for position in range(len(body)):
            span = memoryview(body)[position : position + 1]
            left = tail.feed(span)
            out.extend(span if left is None else b"".join(left))

    with pytest.raises(ProtocolError, match="Fetch response v17"):
        pass_through()
    assert b"inside" not in out
