"""OpenSSL is given all that arrives, a bounded number of records at a time."""

from __future__ import annotations

import random

import pytest

from proxy.net.tls.records import RECORDS, IncomingRecords
from tests.sealing import DATA, HEAD, TLS12

SIZES = [*range(20), 16 << 10, 1, 300]


def record(size: int) -> bytes:
    return HEAD.pack(DATA, TLS12, size) + bytes(size)


STREAM = b"".join(map(record, SIZES))


@pytest.mark.parametrize("seed", range(20))
def test_all_that_arrives_is_given_in_whatever_pieces_it_comes(seed: int) -> None:
    dice, incoming, given, at = random.Random(seed), IncomingRecords(), b"", 0
    while at < len(STREAM):
        size = dice.choice((1, 2, 3, 4, 5, 6, 100, 5_000))
        incoming.give(memoryview(STREAM)[at : at + size])
        given += incoming.bio.read()
        at += size
        assert given == STREAM[: len(given)]
    assert given == STREAM
    assert RECORDS - incoming.left == len(SIZES)


@pytest.mark.parametrize("most", [1, 2, 7])
def test_so_many_records_are_given_at_a_time_and_the_others_wait(most: int) -> None:
    incoming, given = IncomingRecords(), b""
    incoming.left = 0
    incoming.give(memoryview(STREAM))
    assert (incoming.waits, incoming.held, incoming.bio.pending) == (True, len(STREAM), 0)
    for at in range(0, len(SIZES), most):
        incoming.left = most
        incoming.give()
        given += incoming.bio.read()
        assert given == b"".join(map(record, SIZES[: at + most]))
    assert (incoming.waits, incoming.held) == (False, 0)


def test_a_part_of_a_head_waits_for_the_rest_of_it() -> None:
    incoming = IncomingRecords()
    incoming.give(memoryview(record(3) + record(4)[:4]))
    assert incoming.bio.read() == record(3)
    assert (incoming.waits, incoming.held) == (False, 4)
    incoming.give(memoryview(record(4)[4:]))
    assert incoming.bio.read() == record(4)


def test_bytes_that_were_lent_may_change_afterwards() -> None:
    incoming, lent = IncomingRecords(), bytearray(record(3) * 2)
    incoming.left = 1
    incoming.give(memoryview(lent))
    lent[:] = bytes(len(lent))
    incoming.left = 1
    incoming.give()
    assert incoming.bio.read() == record(3) * 2
