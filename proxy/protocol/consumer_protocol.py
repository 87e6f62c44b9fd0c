"""Messages of the consumers of a classic group to each other, which brokers pass on: subscriptions and assignments.

    subscription, version, rest = read_embedded(ConsumerSubscription, protocol.metadata)
    protocol.metadata = write_embedded(subscription, version, rest)

Rules:
* JoinGroup and DescribeGroups have subscriptions, SyncGroup and DescribeGroups assignments, if the protocol type of the
  group is "consumer". Other groups (Connect's) have other content there.
* The bytes begin with a version. Fields that only newer versions have come last, and are kept as bytes.

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
    """The topics that a member wants to read."""

    class TopicPartitions(Struct):
        """A topic, and partitions of it that the member owned before."""

        topic: TopicName
        partitions: array[PartitionIndex]

    topics: array[TopicName]
    user_data: bytes | None  # the assignor's own
    owned_partitions: array[TopicPartitions] = since(1)
    generation_id: int32 = since(2, default=-1)
    rack_id: string | None = since(3, default=None)


class ConsumerAssignment(Message):
    """The partitions that a member is to read."""

    class TopicPartitions(Struct):
        """A topic, and partitions of it."""

        topic: TopicName
        partitions: array[PartitionIndex]

    assigned_partitions: array[TopicPartitions]
    user_data: bytes | None


E = TypeVar("E", bound=Message)


def read_embedded(cls: type[E], data: bytes | memoryview) -> tuple[E, int, bytes]:
    """The message in these bytes, the version that they name, and the bytes after it. Raises ProtocolError."""
    if len(data) < _VERSION.size:
        raise ProtocolError(f"{cls.__name__}: it ends before its version does")
    (version,) = _VERSION.unpack_from(data)
    if version < 0:
        raise ProtocolError(f"{cls.__name__}: it has version {version}")
    whole = bytes(data)
    message, end = decode_prefix(cls, min(version, NEWEST), whole, _VERSION.size)
    return message, version, whole[end:]


def write_embedded(message: Message, version: int, rest: bytes) -> bytes:
    """The bytes of such a message: the inverse of `read_embedded`."""
    return _VERSION.pack(version) + encode(message, min(version, NEWEST)) + rest
