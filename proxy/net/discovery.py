"""Discovery: one broker is asked for all brokers of its cluster.

Rules:
* Only the list of brokers is asked for: Metadata with an empty list of topics means none from v1 on.
* A broker that closes on ApiVersions (0.8.2) or is silent (0.9) is older than ApiVersions. It is asked again on a new
  connection with Metadata v0, where an empty list means all topics.
* Only what is needed is read of an answer: librdkafka's mock cluster has a byte too many after Metadata v9 and above.
* Whatever else goes wrong is an `UnreachableError` with the broker's address.
"""

from __future__ import annotations

import struct
from typing import NamedTuple, TypeVar

import trio

from proxy.core.topology import Endpoint
from proxy.net.dial import UnreachableError, dial
from proxy.protocol.api import METADATA
from proxy.protocol.codec import picker
from proxy.protocol.frame import FOREIGN
from proxy.protocol.header import read_response_header, request_frame
from proxy.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.problem import ProtocolError
from proxy.protocol.schema import Request, Response

CLIENT_ID = "doorkeeper"
SIZE = struct.Struct(">i")
LARGEST = 100 << 20
SILENCE = 3.0  # seconds after which a broker that says nothing to ApiVersions is taken for 0.9

NO_TOPICS = MetadataRequest(topics=[])
R = TypeVar("R", bound=Response)


class Cluster(NamedTuple):
    """What a broker says about its cluster. `cluster_id` is None before 0.10.1."""

    brokers: dict[int, Endpoint]
    cluster_id: str | None


class _EndedError(Exception):
    """The broker closed the connection where an answer was due."""


async def discover(endpoint: Endpoint, seconds: float) -> Cluster:
    """All brokers of the cluster that `endpoint` belongs to. `seconds`: for each step. Raises UnreachableError."""
    try:
        version = await _newest_metadata(endpoint, seconds)
        async with await dial(endpoint, seconds) as stream:
            with trio.fail_after(seconds):
                answer = await _ask(stream, NO_TOPICS, version, MetadataResponse, "brokers", "cluster_id")
    except trio.TooSlowError:
        raise UnreachableError(endpoint, f"no answer to Metadata within {seconds:g} s", stalled=True) from None
    except _EndedError:
        raise UnreachableError(endpoint, "closed the connection instead of answering Metadata") from None
    except ProtocolError as error:
        raise UnreachableError(endpoint, f"does not speak Kafka: {error}") from None
    brokers = {broker.node_id: Endpoint(broker.host, broker.port) for broker in answer.brokers}
    if not brokers:
        raise UnreachableError(endpoint, "knows no brokers yet")
    return Cluster(brokers, answer.cluster_id)


async def _newest_metadata(endpoint: Endpoint, seconds: float) -> int:
    """The newest Metadata version that the broker and this codec know."""
    async with await dial(endpoint, seconds) as stream:
        with trio.move_on_after(min(seconds, SILENCE)):
            try:
                answer = await _ask(stream, ApiVersionsRequest(), 0, ApiVersionsResponse, "api_keys")
            except _EndedError:
                return 0
            newest = {known.api_key: known.max_version for known in answer.api_keys}
            return min(newest.get(METADATA.key, 0), METADATA.newest)
    return 0


async def _ask(stream: trio.SocketStream, request: Request, version: int, expected: type[R], *fields: str) -> R:
    try:
        await stream.send_all(request_frame(request, version, correlation_id=0, client_id=CLIENT_ID))
        (size,) = SIZE.unpack(await _exactly(stream, SIZE.size))
        if not 0 <= size <= LARGEST:
            raise ProtocolError(f"it answered with {FOREIGN.get(SIZE.pack(size), 'something else')}")
        frame = await _exactly(stream, size)
    except trio.BrokenResourceError:
        raise _EndedError from None
    _, body = read_response_header(request.api, version, frame)
    answer: R = picker(expected, version, *fields).decode(frame[body:])
    return answer


async def _exactly(stream: trio.SocketStream, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        chunk = await stream.receive_some(min(size - len(data), 1 << 20))
        if not chunk:
            raise _EndedError
        data += chunk
    return bytes(data)
