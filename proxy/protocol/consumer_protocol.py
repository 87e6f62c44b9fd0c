"""What consumers of a classic group tell each other in bytes that brokers pass on: subscriptions and assignments.

    subscription, version, rest = read_embedded(ConsumerSubscription, protocol.metadata)
    protocol.metadata = write_embedded(subscription, version, rest)

Rules:
* JoinGroup and DescribeGroups have subscriptions, SyncGroup and DescribeGroups assignments, where the protocol type of
  the group is "consumer". Other groups (Connect's) have something else there.
* The bytes begin with a version. What a version newer than ours has besides comes last, and is kept as it is.

Source: ConsumerProtocolSubscription.json, ConsumerProtocolAssignment.json, and Kafka's class ConsumerProtocol.
"""

import struct
from typing import TypeVar

from proxy.protocol.codec import decode_prefix, encode
from proxy.protocol.problem import ProtocolError
from proxy.protocol.schema import Message, Struct, since
from proxy.protocol.wire import PartitionIndex, TopicName, array, int32, string

CONSUMER = "consumer"  # the protocol type
NEWEST = 3
_VERSION = struct.Struct(">h")


class ConsumerSubscription(Message):
    """What a member wants to read."""

    class TopicPartitions(Struct):
        """A topic, and partitions of it that the member has had."""

        topic: TopicName
        partitions: array[PartitionIndex]

    topics: array[TopicName]
    user_data: bytes | None  # the assignor's own
    owned_partitions: array[TopicPartitions] = since(1)
    generation_id: int32 = since(2, default=-1)
    rack_id: string | None = since(3, default=None)


class ConsumerAssignment(Message):
    """What a member is to read."""

    class TopicPartitions(Struct):
        """A topic, and partitions of it."""

        topic: TopicName
        partitions: array[PartitionIndex]

    assigned_partitions: array[TopicPartitions]
    user_data: bytes | None


E = TypeVar("E", bound=Message)


def read_embedded(cls: type[E], data: bytes | memoryview) -> tuple[E, int, bytes]:
    """The message in these bytes, the version that they name, and what follows it. Raises ProtocolError."""
    if len(data) < _VERSION.size:
        raise ProtocolError(f"{cls.__name__}: it ends before its version does")
    (version,) = _VERSION.unpack_from(data)
    if version < 0:
        raise ProtocolError(f"{cls.__name__}: it has version {version}")
    whole = bytes(data)
    message, end = decode_prefix(cls, min(version, NEWEST), whole, _VERSION.size)
    return message, version, whole[end:]


def write_embedded(message: Message, version: int, rest: bytes) -> bytes:
    """The bytes again."""
    return _VERSION.pack(version) + encode(message, min(version, NEWEST)) + rest
