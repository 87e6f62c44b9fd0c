"""The responses of an honest broker to every request; the canary's broker and the scripted brokers use them."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping
from typing import Any

from proxy.protocol.api import API_VERSIONS, APIS, DESCRIBE_CLUSTER, FETCH, FIND_COORDINATOR, METADATA, Api
from proxy.protocol.codec import decode
from proxy.protocol.errors import ErrorCode
from proxy.protocol.header import read_request_header, response_frame
from proxy.protocol.messages.api_versions import ApiVersionsResponse
from proxy.protocol.messages.describe_cluster import DescribeClusterResponse
from proxy.protocol.messages.find_coordinator import FindCoordinatorResponse
from proxy.protocol.messages.metadata import MetadataResponse
from proxy.protocol.refuse import refuse
from proxy.protocol.schema import Response, blank

Told = Mapping[int, tuple[str, int]]  # the brokers in its responses: host and port by node id
TOPICS = ("canary", "orders", "secrets")
HEAD = struct.Struct(">hhi")
FINE = ErrorCode(0)


def answer(frame: bytes, told: Told, node_id: int = 1) -> bytes | None:
    """The answer to a request frame (without its size), size included; None where there is none."""
    header, at = read_request_header(frame)
    api, version = APIS[header.request_api_key], header.request_api_version
    response = _response(api, version, decode(api.request, version, frame[at:]), told, node_id)
    return None if response is None else response_frame(response, version, header.correlation_id)


def empty_answer(frame: bytes) -> bytes:
    """A blank response to any request."""
    key, version, number = HEAD.unpack_from(frame)
    return response_frame(blank(APIS[key].response), version, number)


def opening_answer(frame: bytes, session_id: int) -> bytes:
    """A blank response to any request; that to a Fetch opens this session."""
    key, version, number = HEAD.unpack_from(frame)
    response: Any = blank(APIS[key].response)
    if key == FETCH.key:
        response.session_id = session_id
    return response_frame(response, version, number)


def _response(api: Api, version: int, request: Any, told: Told, node_id: int) -> Response | None:
    if api is API_VERSIONS:
        return versions()
    if api is METADATA:
        asked = TOPICS if request.topics is None or (not request.topics and version == 0) else request.topics
        names = [topic if isinstance(topic, str) else topic.name or "unnamed" for topic in asked]
        return metadata(told, [topic(name, node_id) for name in names])
    host, port = told[node_id]
    if api is DESCRIBE_CLUSTER:
        brokers = [DescribeClusterResponse.Broker(broker_id=n, host=at[0], port=at[1]) for n, at in told.items()]
        return DescribeClusterResponse(throttle_time_ms=0, error_code=0, cluster_id="c", brokers=brokers)
    if api is FIND_COORDINATOR and version < 4:
        return FindCoordinatorResponse(error_code=0, node_id=node_id, host=host, port=port)
    return refuse(api, version, request, FINE)


def versions() -> ApiVersionsResponse:
    """Every API, in all versions."""
    known = [
        ApiVersionsResponse.ApiVersion(api_key=api.key, min_version=0, max_version=api.newest) for api in APIS.values()
    ]
    return ApiVersionsResponse(error_code=0, api_keys=known)


def metadata(told: Told, topics: list[MetadataResponse.Topic] | None = None) -> MetadataResponse:
    """These brokers, and these topics."""
    brokers = [MetadataResponse.Broker(node_id=n, host=host, port=port) for n, (host, port) in told.items()]
    return MetadataResponse(brokers=brokers, topics=topics or [], controller_id=next(iter(told), -1))


def topic(name: str, leader: int, partitions: int = 1) -> MetadataResponse.Topic:
    """A topic with one broker as leader of all partitions; its id is computed from its name."""
    partition = MetadataResponse.Topic.Partition
    all_ = [
        partition(error_code=0, partition_index=n, leader_id=leader, replica_nodes=[leader], isr_nodes=[leader])
        for n in range(partitions)
    ]
    return MetadataResponse.Topic(error_code=0, name=name, topic_id=topic_id(name), partitions=all_)


def topic_id(name: str) -> bytes:
    """The id of a topic in these clusters."""
    return hashlib.md5(name.encode()).digest()
