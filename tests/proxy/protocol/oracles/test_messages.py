"""Every message in every version equals the one of Kafka's own classes, in bytes and in JSON.

Kafka 4.4 has most versions, 3.9 those that 4.0 dropped; together they have all that ever shipped.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator

import pytest

from proxy.protocol import from_json, to_json
from proxy.protocol.api import APIS, Api
from proxy.protocol.codec import decode, encode
from proxy.protocol.messages.share_fetch import ShareFetchResponse
from proxy.protocol.schema import Message, Struct, blank
from proxy.protocol.wire import FLOAT64, RECORDS, Primitive
from tests.proxy.protocol.generate import make, structs_of
from tests.proxy.protocol.oracles.kafka import Kafka

TIMES = 3  # values for each message and version

every_api = pytest.mark.parametrize("api", APIS.values(), ids=repr)


@pytest.fixture
def asked(api: Api, kafka: Kafka, older_kafka: Kafka) -> list[tuple[type[Message], int, Kafka]]:
    """Both messages of an API in all versions, and which Kafka to ask about them."""
    found = []
    for cls in (api.request, api.response):
        new, old = kafka.versions(cls), older_kafka.versions(cls)
        for version in api.versions:
            assert version in new or version in old, f"no Kafka has {cls.title()} v{version}"
            found.append((cls, version, kafka if version in new else older_kafka))
    return found


def some(cls: type[Message], version: int, *, unknown_tags: bool = False) -> Iterator[Message]:
    """Messages with values, the same ones in each run."""
    dice = random.Random(f"{cls.__name__} {version}")
    for _ in range(TIMES):
        message = make(cls, version, dice)
        if (
            isinstance(message, ShareFetchResponse) and version > 0
        ):  # null was for v0 only; our schema has no word for it
            for struct, field in fields_of(message, RECORDS):
                setattr(struct, field, getattr(struct, field) or b"")
        if unknown_tags and cls.is_flexible(version):
            for struct in structs_of(message):
                struct.unknown_tags = [(90, b"new"), (0x7FFFFFFE, b"")]
        yield message


def without_records(message: Message) -> Message:
    """Kafka leaves records out of its JSON."""
    for struct, field in fields_of(message, RECORDS):
        if getattr(struct, field) is not None:
            setattr(struct, field, b"")
    return message


def with_finite_numbers(message: Message) -> Message:
    """Kafka writes an infinity into its JSON as a string, and does not read it back."""
    for struct, field in fields_of(message, FLOAT64):
        if not math.isfinite(getattr(struct, field)):
            setattr(struct, field, 2.5)
    return message


def fields_of(message: Message, kind: Primitive) -> Iterator[tuple[Struct, str]]:
    for struct in structs_of(message):
        yield from ((struct, field.name) for field in struct.fields if field.kind is kind and struct.has(field.name))


@every_api
def test_kafka_reads_and_writes_the_same_bytes(asked: list[tuple[type[Message], int, Kafka]], api: Api) -> None:
    for cls, version, kafka in asked:
        for message in some(cls, version, unknown_tags=True):
            body = encode(message, version)
            theirs = kafka.write(kafka.read(cls, version, body), version)
            assert theirs == body, (cls, version)
            assert decode(cls, version, theirs) == message, (cls, version)


@every_api
def test_kafka_says_the_same_in_json(asked: list[tuple[type[Message], int, Kafka]], api: Api) -> None:
    for cls, version, kafka in asked:
        for message in map(without_records, some(cls, version)):
            theirs = json.loads(kafka.to_json(kafka.read(cls, version, encode(message, version)), version))
            assert to_json(message, version) == theirs, (cls, version)
            assert from_json(cls, version, theirs) == message, (cls, version)


@every_api
def test_kafka_makes_the_same_message_of_our_json(asked: list[tuple[type[Message], int, Kafka]], api: Api) -> None:
    for cls, version, kafka in asked:
        for message in map(with_finite_numbers, some(cls, version)):
            theirs = kafka.from_json(cls, json.dumps(to_json(message, version)), version)
            assert kafka.write(theirs, version) == encode(message, version), (cls, version)


@every_api
def test_what_is_not_set_has_kafkas_default(asked: list[tuple[type[Message], int, Kafka]], api: Api) -> None:
    for cls, version, kafka in asked:
        assert encode(blank(cls), version) == kafka.write(kafka.message(cls), version), (cls, version)


def test_kafka_has_every_version_that_ever_shipped(kafka: Kafka, older_kafka: Kafka) -> None:
    new = sum(version in kafka.versions(api.request) for api in APIS.values() for version in api.versions)
    assert new == 309
    assert sum(len(api.versions) for api in APIS.values()) == 368
