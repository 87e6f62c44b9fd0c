"""Requests of hostile clients: valid ones of each API, with arrays of any length, as frames."""

from __future__ import annotations

import random
from typing import Any

from proxy.protocol.api import APIS, Api
from proxy.protocol.codec import decode_ignoring_rest
from proxy.protocol.frame import SIZE
from proxy.protocol.header import read_request_header, request_frame
from proxy.protocol.messages.fetch import FetchRequest
from proxy.protocol.messages.heartbeat import HeartbeatRequest
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.messages.produce import ProduceRequest
from proxy.protocol.problem import ProtocolError
from proxy.protocol.schema import Request
from proxy.protocol.walk import paths, values
from proxy.protocol.wire import Meaning
from tests.hostile.answers import topic_id
from tests.proxy.protocol.generate import make, one

BEAT = HeartbeatRequest(group_id="open-g", generation_id=1, member_id="m")
FORGOTTEN = "forgotten_topics_data"
CLIENT_APIS = [api for api in APIS.values() if not api.inter_broker]


def beat(number: int = 1, group: str = BEAT.group_id) -> bytes:
    """A Heartbeat, which the rules allow."""
    return request_frame(HeartbeatRequest(group_id=group, generation_id=1, member_id="m"), 4, number, "hostile")


def metadata(names: list[str] | None, number: int = 1, version: int = 9, client_id: str = "hostile") -> bytes:
    """A Metadata request for these topics."""
    topics = None if names is None else [MetadataRequest.Topic(name=name) for name in names]
    return request_frame(MetadataRequest(topics=topics), version, number, client_id)


def produce(names: list[str], number: int = 1, acks: int = 1, size: int = 50, version: int = 9) -> bytes:
    """A Produce request for a partition of each of these topics."""
    topic = ProduceRequest.Topic
    said = [topic(name=name, partition_data=[topic.Partition(index=0, records=b"r" * size)]) for name in names]
    return request_frame(ProduceRequest(acks=acks, timeout_ms=1000, topic_data=said), version, number, "hostile")


def fetch(names: list[str], number: int = 1, session: int = 0, epoch: int = -1, version: int = 11) -> bytes:
    """A Fetch request for a partition of each of these topics."""
    topic = FetchRequest.Topic
    partition = topic.Partition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    said = [topic(topic=name, partitions=[partition]) for name in names]
    request = FetchRequest(max_wait_ms=0, min_bytes=0, topics=said, session_id=session, session_epoch=epoch)
    return request_frame(request, version, number, "hostile")


def by_id(names: list[str], number: int = 1, version: int = 16, session: int = 0, epoch: int = -1) -> bytes:
    """A Fetch request for a partition of each of these topics, by their ids."""
    topic = FetchRequest.Topic
    partition = topic.Partition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    said = [topic(topic_id=topic_id(name), partitions=[partition]) for name in names]
    request = FetchRequest(max_wait_ms=0, min_bytes=0, topics=said, session_id=session, session_epoch=epoch)
    return request_frame(request, version, number, "hostile")


def swollen(api: Api, version: int, count: int) -> bytes:
    """A request of this API in which each outermost array has this many equal elements."""
    dice = random.Random(api.key)
    request: Any = make(api.request, version, dice)
    for field in api.request.fields:
        if field.present(version) and field.is_array and field.tag is None:
            setattr(request, field.name, [one(field, version, dice)] * count)
    return request_frame(request, version, 1, "hostile")


def any_request(api: Api, version: int, dice: random.Random) -> Request:
    """A request of this API with a value in every field."""
    request: Request = make(api.request, version, dice)
    return request


def names(frame: bytes) -> set[object]:
    """The topics that a broker reads in this request: not those in extra bytes after it or in unknown tags.

    Topics that a fetch session drops are left out too: brokers do not authorize these.
    """
    header, at = read_request_header(frame)
    api, version = APIS[header.request_api_key], header.request_api_version
    try:
        request = decode_ignoring_rest(api.request, version, frame[at:])
    except ProtocolError:
        return set()
    ways = (way for way in paths(api.request, Meaning.TOPIC_NAME, Meaning.TOPIC_ID) if not way.startswith(FORGOTTEN))
    return {name for way in ways for name in values(way, version, request)}


def resized(frame: bytes) -> bytes:
    """The frame with its size corrected, after its bytes were changed."""
    return SIZE.pack(len(frame) - SIZE.size) + frame[SIZE.size :]
