"""The positions of some fields in a body."""

from __future__ import annotations

import random

import pytest

from proxy.protocol.codec import BAD_BYTES, encode, spans_finder, tags_finder
from proxy.protocol.messages.fetch import FetchRequest
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.messages.produce import ProduceRequest
from tests.proxy.protocol.generate import make

VERSIONS = range(3, 14)


@pytest.mark.parametrize("version", VERSIONS)
def test_records_and_names_are_found_wherever_they_lie(version: int) -> None:
    dice = random.Random(version)
    for _ in range(20):
        request = make(ProduceRequest, version, dice)
        body = b"before" + encode(request, version)
        records = [p.records for topic in request.topic_data for p in topic.partition_data if p.records is not None]
        *found, (tags, same) = spans_finder(ProduceRequest, version, "records")(body, 6)
        assert tags == same == tags_finder(ProduceRequest, version)(body, 6)
        assert [body[start:stop] for start, stop in found] == [bytes(each) for each in records]
        names = [topic.name.encode() if version < 13 else topic.topic_id for topic in request.topic_data]
        found = spans_finder(ProduceRequest, version, "name", "topic_id")(memoryview(body), 6)[:-1]
        assert [body[start:stop] for start, stop in found] == names


@pytest.mark.parametrize("version", range(19))
def test_what_lies_beside_the_found_fields_is_the_same_whatever_they_say(version: int) -> None:
    dice = random.Random(version)
    for _ in range(20):
        request = make(FetchRequest, version, dice)
        one = encode(request, version)
        for topic in request.topics:
            for partition in topic.partitions:
                partition.fetch_offset ^= dice.randrange(1 << 60)
        other = encode(request, version)
        spans = spans_finder(FetchRequest, version, "fetch_offset")(one, 0)
        assert spans == spans_finder(FetchRequest, version, "fetch_offset")(other, 0)
        assert blanked(one, spans) == blanked(other, spans)


def blanked(body: bytes, spans: list[tuple[int, int]]) -> bytes:
    left = bytearray(body)
    for start, stop in spans:
        left[start:stop] = bytes(stop - start)
    return bytes(left)


def test_bytes_that_end_early_are_bad() -> None:
    request = make(ProduceRequest, 9, random.Random(4))
    body = encode(request, 9)
    find = spans_finder(ProduceRequest, 9, "records")
    for length in range(len(body)):
        with pytest.raises(BAD_BYTES):
            find(body[:length], 0)


def test_a_field_that_is_not_one_value_cannot_be_found() -> None:
    with pytest.raises(TypeError, match="topics is not one value"):
        spans_finder(MetadataRequest, 9, "topics")
