"""Frames for playbooks: requests of some APIs and their responses."""

from __future__ import annotations

from proxy.protocol.frame import SIZE
from proxy.protocol.header import request_frame, response_frame
from proxy.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.messages.produce import ProduceRequest, ProduceResponse
from proxy.protocol.schema import Request, Response

V = 4  # a version that every API here has, with the newest headers


def asking(request: Request, number: int, version: int = V, client_id: str | None = "app") -> bytes:
    """A request frame of a client; `number` is its correlation id."""
    return request_frame(request, version, number, client_id)


def answering(response: Response, number: int, version: int = V) -> bytes:
    """The frame of the broker's response."""
    return response_frame(response, version, number)


def heartbeat(number: int, group: str = "g") -> bytes:
    """A Heartbeat request, which no plugin handles unless a test adds one."""
    return asking(HeartbeatRequest(group_id=group, generation_id=1, member_id="m"), number)


def heartbeat_answer(number: int, error: int = 0) -> bytes:
    """A Heartbeat response."""
    return answering(HeartbeatResponse(error_code=error), number)


def metadata(number: int) -> bytes:
    """A Metadata request for all topics."""
    return asking(MetadataRequest(topics=None), number)


def metadata_answer(number: int, host: str = "kafka-1", port: int = 9092) -> bytes:
    """A Metadata response with one broker and no topics."""
    broker = MetadataResponse.Broker(node_id=1, host=host, port=port)
    return answering(MetadataResponse(brokers=[broker], topics=[]), number)


def produce(
    number: int, acks: int, records: bytes = b"r" * 30, version: int = 9, client_id: str | None = "app"
) -> bytes:
    """A Produce request for one partition."""
    partition = ProduceRequest.Topic.Partition(index=0, records=records)
    topic = ProduceRequest.Topic(name="orders", partition_data=[partition])
    return asking(ProduceRequest(acks=acks, timeout_ms=1000, topic_data=[topic]), number, version, client_id)


def produce_answer(number: int, version: int = 9) -> bytes:
    """An empty Produce response."""
    return answering(ProduceResponse(responses=[]), number, version)


def cut(frame: bytes, at: int) -> tuple[bytes, bytes]:
    """A frame cut into two pieces."""
    return frame[:at], frame[at:]


def body_of(frame: bytes, skip: int) -> bytes:
    """The rest of a frame after its first bytes."""
    return frame[SIZE.size + skip :]
