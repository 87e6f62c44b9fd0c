"""An oddly written request is the same message to the proxy as to Kafka's own classes, or the proxy refuses it.

The proxy decides on the message that it reads, and forwards the original bytes: if the broker read another message, the
wrong one would be allowed. This holds for whole requests, for some fields, and for names that a roll call finds.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from plugins.acl.fetch import FetchHandlers
from plugins.acl.produce import ProduceHandlers
from proxy.protocol.codec import BAD_BYTES, decode, decode_prefix, encode, slice_decode
from proxy.protocol.fiber import at_once
from proxy.protocol.header import RequestHeader
from proxy.protocol.messages.fetch import FetchRequest
from proxy.protocol.messages.produce import ProduceRequest
from proxy.protocol.picker import picker
from proxy.protocol.problem import ProtocolError
from proxy.protocol.rollcall import nobody, rollcall
from proxy.protocol.schema import Message, Request
from tests.proxy.protocol.generate import EVERY, make
from tests.proxy.protocol.odd import Odd
from tests.proxy.protocol.oracles.kafka import Kafka, KafkaRefusedError
from tests.proxy.protocol.test_mutations import outcome

MANY = 1 << 30
REPLACED = "\ufffd".encode()  # Java and Python put it unequally often; no name has it
SENT = [(cls, version) for cls, version in EVERY if issubclass(cls, Request) and not cls.api.inter_broker]
SENT += [(RequestHeader, 1), (RequestHeader, 2)] * 5
PICKED = [(FetchRequest, v, FetchHandlers.FIELDS, "topic") for v in range(19)]
PICKED += [(ProduceRequest, v, ProduceHandlers.FIELDS, "name") for v in range(14)]


class Reading:
    """What Kafka makes of bytes."""

    def __init__(self, kafka: Kafka, older_kafka: Kafka) -> None:
        self._kafkas = kafka, older_kafka
        self._versions: dict[type[Message], range] = {}

    def canonical(self, cls: type[Message], version: int, data: bytes) -> tuple[bytes, int] | None:
        """The message that `data` begins with as Kafka writes it, and where it ends; None: it is refused."""
        newest, older = self._kafkas
        if cls is RequestHeader:
            asked, message = newest, newest.common.message.RequestHeaderData()
        else:
            if cls not in self._versions:
                self._versions[cls] = newest.versions(cls)
            asked = newest if version in self._versions[cls] else older
            message = asked.message(cls)
        try:
            end = asked.fill_from(message, version, data)
            return asked.write(message, version), end
        except KafkaRefusedError:
            return None


@pytest.fixture
def reading(kafka: Kafka, older_kafka: Kafka) -> Reading:
    return Reading(kafka, older_kafka)


def odd(many: list[Any], rounds: int) -> Iterator[tuple[Any, bytes]]:
    dice = random.Random(rounds)
    for n in range(rounds):
        case = many[n % len(many)]
        yield case, Odd(dice, dice.choice([0.01, 0.05])).message(make(case[0], case[1], dice), case[1])


@pytest.mark.parametrize("rounds", [3_000, pytest.param(100_000, marks=pytest.mark.long)])
def test_what_we_read_is_what_kafka_reads(rounds: int, reading: Reading) -> None:
    agreed = refused = 0
    for (cls, version), data in odd(SENT, rounds):
        ours = outcome(decode_prefix, cls, version, data, 0)
        in_slices = outcome(at_once, slice_decode(cls, version, memoryview(data), 0, MANY))
        if isinstance(ours, ProtocolError):
            assert isinstance(in_slices, ProtocolError), (cls, version, data.hex())
            refused += 1
            continue
        message, end = ours
        theirs = reading.canonical(cls, version, data)
        written = encode(message, version)
        assert encode(in_slices, version) == written, (cls, version, data.hex())
        if theirs is not None and REPLACED not in written:
            assert theirs == (written, end), (cls, version, data.hex())
            agreed += 1
    assert min(agreed, refused) > rounds / 10


@pytest.mark.parametrize("rounds", [2_000, pytest.param(50_000, marks=pytest.mark.long)])
def test_some_fields_and_names_are_what_kafka_reads(rounds: int, reading: Reading) -> None:
    agreed = called = 0
    for (cls, version, fields, name), data in odd(PICKED, rounds):
        pick = picker(cls, version, *fields)
        picked = outcome(pick.decode, data)
        try:
            said = rollcall(cls, version, name, "topic_id")(data, 0, b"", nobody())
            names = said if said is None or version >= 13 else [each.decode() for each in said]
        except BAD_BYTES:
            names = None
        if isinstance(picked, ProtocolError) and names is None:
            continue
        theirs = reading.canonical(cls, version, data)
        if theirs is None:
            continue
        message: Any = outcome(decode, cls, version, theirs[0])
        if isinstance(message, ProtocolError):
            continue  # a name that was not UTF-8 may be too long now
        if not isinstance(picked, ProtocolError):
            agreed += 1
            for field in pick.wanted:
                assert getattr(picked, field) == getattr(message, field), (cls, version, field, data.hex())
        if names is not None:
            called += 1
            named = "topic_id" if version >= 13 else name
            assert names == [getattr(topic, named) for topic in topics_of(message)], (cls, version, data.hex())
    assert min(agreed, called) > rounds / 10


def topics_of(message: Any) -> list[Any]:
    if isinstance(message, ProduceRequest):
        return message.topic_data
    return [*message.topics, *message.forgotten_topics_data]
