"""Roll call: the names in a message that are not known yet."""

from __future__ import annotations

import random

import pytest

from proxy.protocol.codec import BAD_BYTES, encode, start_finder
from proxy.protocol.emit.finders import CALLED
from proxy.protocol.messages.fetch import FetchRequest
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.messages.produce import ProduceRequest
from proxy.protocol.rollcall import nobody, plain, rollcall
from proxy.protocol.schema import blank
from tests.proxy.protocol.generate import make

NAMES = ("name", "topic_id")
VERSIONS = range(14)


def produce(version: int, *topics: str, records: bytes = b"records") -> bytes:
    topic, partition = ProduceRequest.Topic, ProduceRequest.Topic.Partition
    data = [
        topic(name=name, topic_id=name.encode().ljust(16), partition_data=[partition(index=0, records=records)] * 2)
        for name in topics
    ]
    return encode(ProduceRequest(acks=1, timeout_ms=1, topic_data=data), version)


def one_topic(times: int) -> bytes:
    return encode(MetadataRequest(topics=[MetadataRequest.Topic(name="t")] * times), 1)


def said(version: int, *topics: str) -> list[bytes]:
    return [name.encode() if version < 13 else name.encode().ljust(16) for name in topics]


@pytest.mark.parametrize("version", VERSIONS)
def test_who_is_not_known_is_told_in_order(version: int) -> None:
    call = rollcall(ProduceRequest, version, *NAMES)
    known = nobody()
    body = produce(version, "one", "two", "three", "two")
    assert call(body, 0, b"", known) == said(version, "one", "two", "three", "two")
    for name in said(version, "two", "one"):
        known.add(name)
    assert len(known) == 2
    assert call(b"before" + body, 6, b"", known) == said(version, "three")
    known.clear()
    assert len(known) == 0
    assert call(memoryview(body), 0, b"", known) == said(version, "one", "two", "three", "two")


@pytest.mark.parametrize("version", VERSIONS)
def test_what_follows_the_last_name_need_not_have_come(version: int) -> None:
    body = produce(version, "first", "last", records=bytes(100_000))
    last = body.index(said(version, "last")[0]) + len(said(version, "last")[0])
    for call, known in (
        (rollcall(ProduceRequest, version, *NAMES), nobody()),
        (plain(ProduceRequest, version, *NAMES), set()),
    ):
        assert call(body[:last], 0, b"", known) == said(version, "first", "last")
        with pytest.raises(BAD_BYTES):
            call(body[: last - 1], 0, b"", known)


@pytest.mark.parametrize("version", VERSIONS)
def test_it_may_be_told_how_a_message_begins(version: int) -> None:
    body = produce(version, "one", "two")
    topics = start_finder(ProduceRequest, version, "topic_data")(body, 0)
    begins = b"head" + body[:topics]
    for make_call, known in ((rollcall, nobody()), (plain, set())):
        call = make_call(ProduceRequest, version, *NAMES, begins_at="topic_data")
        assert call(b"any head" + body, 4, begins, known) == said(version, "one", "two")
        assert call(b"any hear" + body, 4, begins, known) is None
        assert call(b"head" + body[: topics - 1], 0, begins, known) is None
        assert call(b"", 0, begins, known) is None


@pytest.mark.parametrize("version", range(9, 14))
def test_a_bare_message_is_gone_over_to_its_end_and_has_no_tags(version: int) -> None:
    body = produce(version, "one")
    for make_call, known in ((rollcall, nobody()), (plain, set())):
        call = make_call(ProduceRequest, version, *NAMES, whole=True)
        assert call(body, 0, b"", known) == call(body + b"more", 0, b"", known) == said(version, "one")
        assert call(body[:-1] + b"\1\5\0", 0, b"", known) is None
        with pytest.raises(BAD_BYTES):
            call(body[:-1], 0, b"", known)


@pytest.mark.parametrize("version", range(12, 19))
def test_of_tagged_fields_at_any_depth_it_says_nothing(version: int) -> None:
    partition = blank(FetchRequest.Topic.Partition)
    topic = FetchRequest.Topic(topic="one", topic_id=bytes(16), partitions=[partition])
    request = FetchRequest(max_wait_ms=1, min_bytes=1, topics=[topic])
    for make_call, known in ((rollcall, nobody()), (plain, set())):
        call = make_call(FetchRequest, version, "topic", "topic_id", begins_at="topics", whole=True)
        start = start_finder(FetchRequest, version, "topics")(encode(request, version), 0)
        assert call(encode(request, version), start, b"", known) == ([b"one"] if version < 13 else [bytes(16)])
        for struct in (partition, topic, request):
            struct.unknown_tags = [(90, b"new")]
            assert call(encode(request, version), start, b"", known) is None
            struct.unknown_tags = []


def test_without_names_the_whole_message_is_gone_over() -> None:
    body = produce(9)
    assert rollcall(ProduceRequest, 9, *NAMES)(body, 0, b"", nobody()) == []
    with pytest.raises(BAD_BYTES):
        rollcall(ProduceRequest, 9, *NAMES)(body[:-1], 0, b"", nobody())


def test_thousands_are_known() -> None:
    dice, known, every = random.Random(1), nobody(), [f"{number}" * (number % 7 + 1) for number in range(5_000)]
    for name in every:
        known.add(name.encode())
        known.add(name.encode())
    assert len(known) == len({*every})
    asked = [*dice.sample(every, 500), "", "nobody", "x" * 300]
    dice.shuffle(asked)
    strangers = rollcall(ProduceRequest, 3, *NAMES)(produce(3, *asked), 0, b"", known)
    assert strangers == [name.encode() for name in asked if name not in every]


def test_a_struct_cannot_be_called() -> None:
    for make_call in (plain, rollcall):
        with pytest.raises(TypeError, match="topics is not one value"):
            make_call(MetadataRequest, 9, "topics")


@pytest.mark.parametrize("version", VERSIONS)
def test_whatever_a_request_says_its_names_are_found(version: int) -> None:
    dice = random.Random(version)
    for _ in range(20):
        request = make(ProduceRequest, version, dice)
        names = [topic.name.encode() if version < 13 else topic.topic_id for topic in request.topic_data]
        assert rollcall(ProduceRequest, version, *NAMES)(encode(request, version), 0, b"", nobody()) == names


def test_what_follows_the_last_field_is_not_looked_at() -> None:
    topic, gone = (
        FetchRequest.Topic(topic="one", partitions=[]),
        FetchRequest.ForgottenTopic(topic="two", partitions=[]),
    )
    for topics in ([topic], []):
        request = FetchRequest(max_wait_ms=1, min_bytes=1, topics=topics, forgotten_topics_data=[gone])
        for make_call, known in ((plain, set()), (rollcall, nobody())):
            call = make_call(FetchRequest, 12, "topic", ends_at="topics")
            assert call(encode(request, 12), 0, b"", known) == [b"one"] * len(topics)


def test_plain_python_goes_over_so_many_names_at_once() -> None:
    call = plain(MetadataRequest, 1, "name")
    assert call(one_topic(CALLED), 0, b"", {b"t"}) == []
    with pytest.raises(BAD_BYTES):
        call(one_topic(CALLED + 1), 0, b"", {b"t"})
