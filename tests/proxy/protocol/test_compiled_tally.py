"""Tally: elements are counted as the readers count them; partitions are counted only where the whole message is plain.

tests/plugins/audit/test_counted.py compares the counts with those of the audit journal.
"""

from __future__ import annotations

import random
from itertools import count

import pytest

from proxy.protocol import _tally
from proxy.protocol.api import PRODUCE
from proxy.protocol.codec import BAD_BYTES, encode, slice_decode
from proxy.protocol.fiber import at_once
from proxy.protocol.frame import REQUEST_HEAD
from proxy.protocol.header import response_frame
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.messages.produce import ProduceRequest, ProduceResponse
from proxy.protocol.problem import TooManyElementsError
from proxy.protocol.records import Record, write_batch
from proxy.protocol.records.batch import HEADER, HEADER_FIELDS, RecordBatch, batches
from proxy.protocol.tally import element_counter, traffic
from tests.proxy.protocol.generate import EVERY, make, some

PLENTY = 1_000_000


def test_the_elements_of_every_message_are_counted_as_they_are_when_it_is_read() -> None:
    dice, told = random.Random(5), 0
    for cls, version in EVERY:
        body = b"head" + encode(make(cls, version, dice), version)
        counted = element_counter(cls, version)(body, 4, PLENTY)
        if counted is not None:
            read = at_once(slice_decode(cls, version, body, 4, PLENTY))
            assert counted == read.elements, (cls, version)
            told += counted > 0
            if counted:
                assert element_counter(cls, version)(body, 4, counted) == counted, (cls, version)
                assert element_counter(cls, version)(body, 4, counted - 1) is None, (cls, version)
                with pytest.raises(TooManyElementsError):
                    at_once(slice_decode(cls, version, body, 4, counted - 1))
    assert told > 150


def test_messages_with_tagged_fields_or_more_elements_than_asked_for_are_not_counted() -> None:
    request = MetadataRequest(topics=[MetadataRequest.Topic(name="t") for _ in range(9)])
    counter = element_counter(MetadataRequest, 12)
    assert [counter(encode(request, 12), 0, most) for most in (8, 9)] == [None, 9]
    request.unknown_tags = ((77, b"x"),)
    assert counter(encode(request, 12), 0, 9) is None


def test_elements_behind_the_last_field_that_is_wanted_do_not_count() -> None:
    topics = [MetadataResponse.Topic(error_code=0, name="t", is_internal=False, partitions=[]) for _ in range(9)]
    brokers = [MetadataResponse.Broker(node_id=node_id, host="h", port=9092) for node_id in range(3)]
    body = encode(MetadataResponse(brokers=brokers, cluster_id="c", controller_id=1, topics=topics), 12)

    def counted(*names: str) -> int | None:
        return element_counter(MetadataResponse, 12, frozenset(names))(body, 0, PLENTY)

    assert [counted(), counted("brokers"), counted("brokers", "cluster_id"), counted("topics")] == [0, 3, 3, 12]
    assert counted("error_code") == 0  # this version has no such field


def test_what_ends_too_early_cannot_be_counted() -> None:
    for cls, version in EVERY:
        body = encode(some(cls, version, count()), version)
        for cut in range(0, len(body), 7):
            try:
                assert element_counter(cls, version)(body[:cut], 0, PLENTY) is None
            except BAD_BYTES:
                continue


@pytest.mark.parametrize("start", [-1, 3, 1 << 40])
def test_nothing_lies_beyond_the_bytes(start: int) -> None:
    assert element_counter(MetadataRequest, 12)(b"\0\0", start, 1) is None


def plain_request(version: int, records: bytes) -> ProduceRequest:
    partition = ProduceRequest.Topic.Partition(index=3, records=records)
    topic = ProduceRequest.Topic(name="t", topic_id=b"t" * 16, partition_data=[partition])
    return ProduceRequest(acks=1, timeout_ms=1, topic_data=[topic])


def headed(request: ProduceRequest, version: int, header: bytes = b"") -> bytes:
    """A request behind a head and this header."""
    return bytes(REQUEST_HEAD.size) + header + encode(request, version)


def test_of_a_request_the_header_of_its_last_batch_is_enough() -> None:
    batch = write_batch([Record(None, b"v" * 500, timestamp=9)] * 2)
    for version in PRODUCE.versions:
        layouts = traffic(ProduceRequest, ProduceResponse, version)
        assert layouts is not None
        body, tally = headed(plain_request(version, batch), version), layouts.tally()
        name = b"t" if version < 13 else b"t" * 16
        assert layouts.ask(tally, body, 0, len(body), b"", 1.0) is None, "this partition is not known"
        tally.know(name, 3)
        starts = body.index(batch[:20])
        for have in (starts + HEADER.size, len(body) - 1, len(body)):
            exchange = layouts.ask(tally, body[:have], 0, len(body), b"", 1.0)
            assert exchange is not None
            assert exchange.asked() == [(name, 3, len(batch), 2, 9, 9)]
        assert layouts.ask(tally, body[: starts + HEADER.size - 1], 0, len(body), b"", 1.0) is None
        assert layouts.ask(tally, body, 0, len(body) - 1, b"", 1.0) is None, "it has more bytes than it says"


def test_a_request_is_found_where_it_begins_and_behind_the_header_that_is_known_alone() -> None:
    layouts = traffic(ProduceRequest, ProduceResponse, 9)
    assert layouts is not None
    tally, frame = layouts.tally(), headed(plain_request(9, b""), 9, b"app")
    tally.know(b"t", 3)
    data, size = b"before" + frame + b"behind", len(frame)
    exchange = layouts.ask(tally, data, 6, size, b"app", 1.0)
    assert exchange is not None
    assert exchange.size == size
    for begin, header in ((6, b"apq"), (6, b"ap"), (6, b"app" * 99), (5, b"app"), (-1, b"app"), (1 << 40, b"app")):
        assert layouts.ask(tally, data, begin, size, header, 1.0) is None
    assert layouts.ask(tally, data, 6, -1, b"app", 1.0) is None


def test_a_tally_that_was_taken_counts_nothing_more() -> None:
    layouts = traffic(ProduceRequest, ProduceResponse, 9)
    assert layouts is not None
    body, tally = headed(plain_request(9, b""), 9), layouts.tally()
    tally.know(b"t", 3)
    exchange = layouts.ask(tally, body, 0, len(body), b"", 1.0)
    assert exchange is not None
    answer = response_frame(ProduceResponse(responses=[]), 9, 1)
    assert layouts.answer(exchange, answer, 0, len(answer), 3.0, 3.5, 100.0)
    took = (1, len(body), len(answer), 2.0, 0.5, 2.0, 0.5, 100.0, 100.0, [(b"t", 3, 1, None, 0, -1, -1, -1, -1)])
    assert tally.take() == took
    assert not layouts.answer(exchange, answer, 0, len(answer), 3.0, 3.5, 100.0)
    assert layouts.ask(tally, body, 0, len(body), b"", 1.0) is None


def test_many_partitions_find_their_places() -> None:
    layouts = traffic(ProduceRequest, ProduceResponse, 9)
    assert layouts is not None
    tally = layouts.tally()
    for index in range(300):
        tally.know(b"t", index)
        tally.know(b"t", index)
    parts = [ProduceRequest.Topic.Partition(index=index, records=None) for index in range(300)]
    request = ProduceRequest(acks=1, timeout_ms=1, topic_data=[ProduceRequest.Topic(name="t", partition_data=parts)])
    body = headed(request, 9)
    exchange = layouts.ask(tally, body, 0, len(body), b"", 1.0)
    assert exchange is not None
    assert [row[1] for row in exchange.asked()] == list(range(300))
    assert exchange.held > 300 * 40


def test_it_says_how_it_is_called() -> None:
    layout, tally = _tally.Layout(()), _tally.Tally()
    for call in (
        lambda: layout.ask(b"", b"", 0, 0, b"", 0.0),  # type: ignore[arg-type]
        lambda: layout.answer(tally, b"", 0, 0, 0.0, 0.0, 0.0),  # type: ignore[arg-type]
        lambda: layout.elements(b"", 0),  # type: ignore[call-arg]
        lambda: tally.know("t", 0),  # type: ignore[arg-type]
        lambda: _tally.Layout([]),  # type: ignore[arg-type]
    ):
        with pytest.raises(TypeError):
            call()


def batch(**fields: int) -> bytes:
    """A batch whose header says these."""
    (whole,) = batches(write_batch([Record(None, b"v", timestamp=9)]))
    assert isinstance(whole, RecordBatch)
    said = [fields.get(name, getattr(whole, name)) for name in HEADER_FIELDS]
    return HEADER.pack(*said) + bytes(whole.data[HEADER.size :])


@pytest.mark.parametrize(
    "said",
    [
        {"base_offset": (1 << 63) - 1, "last_offset_delta": 1},
        {"last_offset_delta": -1},
        {"base_timestamp": -5},
        {"records_count": -1},
    ],
)
def test_a_batch_whose_numbers_cannot_be_is_read(said: dict[str, int]) -> None:
    layouts = traffic(ProduceRequest, ProduceResponse, 9)
    assert layouts is not None
    tally = layouts.tally()
    tally.know(b"t", 3)
    body = headed(plain_request(9, batch(**said)), 9)
    assert layouts.ask(tally, body, 0, len(body), b"", 1.0) is None


def test_messages_with_bytes_behind_them_are_read() -> None:
    for version in PRODUCE.versions:
        layouts = traffic(ProduceRequest, ProduceResponse, version)
        assert layouts is not None
        tally, body = layouts.tally(), headed(plain_request(version, batch()), version)
        tally.know(b"t" if version < 13 else b"t" * 16, 3)
        longer = body + b"\0"
        assert layouts.ask(tally, longer, 0, len(longer), b"", 1.0) is None
        assert layouts.ask(tally, body, 0, len(longer), b"", 1.0) is None, "one more is to come"
        exchange = layouts.ask(tally, body, 0, len(body), b"", 1.0)
        assert exchange is not None
        answer = response_frame(ProduceResponse(responses=[]), version, 1) + b"\0"
        assert not layouts.answer(exchange, answer, 0, len(answer), 2.0, 3.0, 4.0)
