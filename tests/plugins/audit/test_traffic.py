"""Traffic: the fast reader finds the same as the general one."""

from __future__ import annotations

import random
from typing import Any

import pytest

from plugins.audit.resources import Subjects
from plugins.audit.traffic import MOST, TRAFFIC, TrafficSubjects
from proxy.plugin import FETCH, PRODUCE, Api, ErrorCode, Message, ProduceRequest, Record, write_batch
from tests.plugins.audit.declared import undeclared
from tests.proxy.protocol.generate import make

STAMP = {"kind": "request", "schema": 2, "time": "", "instance": "a", "worker": 0, "sequence": 1}
VERSIONS = [(api, version) for api in (PRODUCE, FETCH) for version in api.versions]
BATCH = write_batch([Record(None, b"v", timestamp=1_700_000_000_000) for _ in range(3)], base_offset=40)
TWO = write_batch([Record(None, b"w", timestamp=1_700_000_000_500)], base_offset=43)


def parts_of(topic: Any) -> list[Any]:
    names = ("partition_data", "partition_responses", "partitions")
    found: list[Any] = next(getattr(topic, name) for name in names if name in topic.field)
    return found


def exchange(api: Api, version: int, dice: random.Random) -> tuple[Message, Message]:
    """A request and its answer, about the same topics, with records that can be read, or cannot."""
    request: Any = make(api.request, version, dice)
    response: Any = make(api.response, version, dice)
    if api is FETCH:
        request.forgotten_topics_data = []
    asked = request.topic_data if api is PRODUCE else request.topics
    for number, topic in enumerate([*asked, *response.responses], 1):  # each topic and partition is named once
        topic.topic_id = number.to_bytes(16)
        setattr(topic, "topic" if "topic" in topic.field else "name", f"t-{number}")
        for index, part in enumerate(parts_of(topic)):
            field = next(name for name in ("index", "partition", "partition_index") if name in part.field)
            setattr(part, field, number * 1000 + index)
    for one, other in zip(asked, response.responses, strict=False):
        for field in ("name", "topic", "topic_id"):
            if one.field.get(field) and other.field.get(field):
                setattr(other, field, getattr(one, field))
        parts, told = parts_of(one), parts_of(other)
        for part, answer in zip(parts, told, strict=False):
            answer.error_code = dice.choice([0, 0, 6, 29])
            if api is PRODUCE:
                part.records, answer.index = dice.choice([None, BATCH, BATCH + TWO, b"odd"]), part.index
                answer.base_offset = dice.choice([-1, 7])
            else:
                answer.partition_index = part.partition
                answer.records = dice.choice([None, b"", BATCH, BATCH + TWO, BATCH + TWO[:20]])
    if api is FETCH and version >= 7:
        response.error_code = dice.choice([0, 0, 70])
    return request, response


def told(subjects: Any) -> list[dict[str, Any]]:
    name_of = {bytes(16): None}.get
    found = [dict(resource) for resource in subjects.resources(name_of)]
    return sorted(found, key=lambda one: repr(sorted(one.items())))


@pytest.mark.parametrize("seed", range(20))
def test_both_readers_say_the_same(seed: int) -> None:
    dice = random.Random(seed)
    for api, version in VERSIONS:
        request, response = exchange(api, version, dice)
        fast, general = TrafficSubjects(api, version), Subjects(api, version)
        for message in (request, response):
            fast.read(message)
            general.read(message)
        assert told(fast) == told(general), (api.name, version)
        assert set(fast.errors or ()) == set(general.errors or ())
        assert fast.wants_answer is general.wants_answer
        assert not undeclared(STAMP | {"resources": fast.resources({}.get)})


def test_the_fields_that_are_read_are_there() -> None:
    for cls, fields in TRAFFIC.items():
        assert fields <= cls.field.keys()


def test_what_is_kept_of_a_request_is_bounded() -> None:
    data = [ProduceRequest.Topic.Partition(index=index, records=None) for index in range(MOST + 7)]
    topic = ProduceRequest.Topic(name="t", partition_data=data)
    subjects = TrafficSubjects(PRODUCE, 9)
    subjects.read(ProduceRequest(acks=-1, timeout_ms=1, topic_data=[topic]))
    assert (len(subjects.partitions), subjects.left_out) == (MOST, 7)


def test_what_it_is_about_is_told_with_its_errors_for_counting() -> None:
    subjects = TrafficSubjects(PRODUCE, 9)
    data = [ProduceRequest.Topic.Partition(index=0, records=BATCH)]
    request = ProduceRequest(
        transactional_id="x", acks=-1, timeout_ms=1, topic_data=[ProduceRequest.Topic(name="t", partition_data=data)]
    )
    subjects.read(request)
    subjects.partitions["t", 0].error = ErrorCode["NOT_LEADER_OR_FOLLOWER"]
    transaction, (key, name, moved) = subjects.moved({}.get)
    assert transaction[:2] == (("transactional_id", "x", None), "x")
    assert (key, name, moved.records, moved.error) == (("topic", "t", 0), "t", 3, 6)
