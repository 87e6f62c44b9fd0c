"""Fetch session: the partitions that a client fetches by many requests that name only changes (KIP-227, KIP-932)."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any, NamedTuple

from proxy.protocol.fiber import turns
from proxy.protocol.messages.share_fetch import ShareFetchRequest

Topic = str | bytes  # a name, or an id
FIRST, LAST = 1, 0x7FFFFFFF  # epochs of requests that go on with a session
PARTITION = 300  # bytes that a partition takes
TOPIC = 300  # bytes that a topic takes, beside the characters of its name
MOST_TOPICS, MOST_PARTITIONS = 20_000, 300_000  # in a session that goes on; clients have far fewer


class FetchedTopic(NamedTuple):
    """A topic of a request: its partitions by index, as they were asked for."""

    topic: Topic
    partitions: dict[int, Any]


class FetchSession:
    """All topics that the client fetches, each with its partitions as they were asked for last."""

    __slots__ = ("__weakref__", "_named", "by_id", "content", "epoch", "is_open", "size", "topics")

    def __init__(self, *, by_id: bool) -> None:
        self.by_id = by_id  # its topics are known by their ids
        self.epoch = FIRST  # of the next request
        self.is_open = True
        self.topics: dict[Topic, dict[int, Any]] = {}
        self.size = 0  # partitions
        self.content: object = None  # another object whenever partitions come or go
        self._named = 0  # bytes that the topics take

    @property
    def held(self) -> int:
        """Bytes that the session takes, estimated."""
        return PARTITION * self.size + self._named

    @property
    def is_full(self) -> bool:
        """Whether it has so much that it does not go on."""
        return self.size > MOST_PARTITIONS or len(self.topics) > MOST_TOPICS

    def advance(self) -> None:
        """The request with this epoch was taken: the next one has the next epoch."""
        self.epoch = self.epoch + 1 if self.epoch < LAST else FIRST

    def take(self, asked: Iterable[FetchedTopic], forgotten: Iterable[FetchedTopic]) -> None:
        """Remember what a request asks for and forgets. A partition in both lists is forgotten, as by brokers."""
        for topic, partitions in turns(asked):
            if partitions:
                if topic not in self.topics:
                    self._named += _taken(topic)
                there = self.topics.setdefault(topic, {})
                before = len(there)
                there.update({index: _bare(one) for index, one in turns(partitions.items())})
                self._count(len(there) - before)
        for topic, partitions in turns(forgotten):
            there = self.topics.get(topic, {})
            before = len(there)
            for index in turns(partitions):
                there.pop(index, None)
            self._count(len(there) - before)
            if not there and self.topics.pop(topic, None) is not None:
                self._named -= _taken(topic)

    def _count(self, more: int) -> None:
        """So many partitions came, or went."""
        if more:
            self.size += more
            self.content = object()


def _taken(topic: Topic) -> int:
    """Bytes that a topic takes in a session: its name may be long."""
    return TOPIC + 4 * len(topic)


def _bare(partition: Any) -> Any:
    """The part of a partition that is remembered.

    It leaves out acknowledgements, which count once only, and unknown tagged fields, which may be long.
    """
    if isinstance(partition, ShareFetchRequest.Topic.Partition):
        most = partition.partition_max_bytes
        return type(partition)(
            partition_index=partition.partition_index, partition_max_bytes=most, acknowledgement_batches=[]
        )
    if not getattr(partition, "unknown_tags", ()):
        return partition
    bare = copy(partition)
    bare.unknown_tags = ()
    return bare
