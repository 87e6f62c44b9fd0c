"""Topic writing: appends records of a plugin to a topic of a cluster that the proxy serves.

Rules:
* It uses connections of its own (`own_connections.py`), which no listener and no plugin sees.
* A topic is never created. The partition is chosen once, by the CRC-32 of the key as in librdkafka, and kept. So
  records of one key stay in order, even when the topic gets more partitions.
* Records whose write was not answered may be on the topic anyway. A caller that writes them again may duplicate them.
* After any error the connection is closed, and the leader is looked up again. A leader that moved is followed at once,
  a few times. A connection that breaks after it was of use, for example because the broker closes it as idle, is no
  error: another one takes its place at once.
* A connection belongs to the cluster as configured. When that configuration changes, another connection is made.
* When the plugin stops, a write under way goes on to its end, because otherwise nobody would know whether it succeeded.
  That write and all further ones together take no longer than AT_THE_END.
* Every error is a TopicError: which topic, why, and a way out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from math import inf
from zlib import crc32

import trio

from proxy.core.addresses import no_port
from proxy.core.topic_writer import TopicError
from proxy.core.topology import Endpoint
from proxy.net.dial import UnreachableError
from proxy.net.own_connections import OwnConnection
from proxy.net.upstream import CANDIDATES, Upstream
from proxy.protocol.api import METADATA, PRODUCE
from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.messages.produce import ProduceRequest, ProduceResponse
from proxy.protocol.records import CompressionType, Record, write_batch

ALL_IN_SYNC = -1
MAKES_NONE = 4  # the first version of Metadata that can avoid creating the topic: Kafka 0.11
BATCHES = 3  # the first version of Produce with record batches: Kafka 0.11
ZSTD = 7  # the first version of Produce with this compression: Kafka 2.1
NAMED = 12  # the newest version with the topic's name
TRIES = 3  # attempts to follow a leader that moved
PAUSE = 0.2  # seconds between two attempts
AT_THE_END = 4.0  # seconds for all writes while the plugin stops: a worker is killed after 5

MOVED = frozenset(
    ErrorCode[name]
    for name in ("NOT_LEADER_OR_FOLLOWER", "LEADER_NOT_AVAILABLE", "FENCED_LEADER_EPOCH", "KAFKA_STORAGE_ERROR")
)
TOO_LARGE = frozenset({ErrorCode["MESSAGE_TOO_LARGE"], ErrorCode["RECORD_LIST_TOO_LARGE"]})
INVALID = frozenset({ErrorCode["INVALID_TIMESTAMP"], ErrorCode["INVALID_RECORD"]})
WAYS_OUT = {
    ErrorCode["UNKNOWN_TOPIC_OR_PARTITION"]: "create it, and let the proxy's user describe it",
    ErrorCode["TOPIC_AUTHORIZATION_FAILED"]: "give the proxy's user the right to write it and to describe it",
    ErrorCode["MESSAGE_TOO_LARGE"]: "raise its max.message.bytes",
    ErrorCode["RECORD_LIST_TOO_LARGE"]: "raise its max.message.bytes",
    ErrorCode["INVALID_TIMESTAMP"]: "set the clocks, or raise its message.timestamp.before.max.ms and after.max.ms",
    ErrorCode["INVALID_RECORD"]: "the broker's log says why",
    ErrorCode["NOT_ENOUGH_REPLICAS"]: "bring back brokers, until its min.insync.replicas are in sync",
}


class _MovedError(TopicError):
    """The leader is not where it was expected."""


class ClusterTopicWriter:
    """Appends to one topic. `upstream` gives the cluster in force. None: it is not served."""

    def __init__(self, cluster: str, topic: str, upstream: Callable[[], Upstream | None]) -> None:
        self._place = f"topic {topic} of cluster {cluster}"
        self._topic = topic
        self._upstream = upstream
        self._leader: OwnConnection | None = None
        self._partition: int | None = None
        self._under_way = trio.CancelScope()
        self._ends = inf  # by trio's clock: when all writes must be done

    def write(self, records: Sequence[Record], seconds: float) -> None:
        """See `TopicWriter`."""
        trio.from_thread.run(self._append, records, seconds)

    def end(self) -> None:
        """Note that the plugin stops. May be called again."""
        self._ends = min(self._ends, trio.current_time() + AT_THE_END)
        self._under_way.deadline = min(self._under_way.deadline, self._ends)

    async def _append(self, records: Sequence[Record], seconds: float) -> None:
        await trio.lowlevel.checkpoint_if_cancelled()  # a write that has not begun fails if cancelled
        began = trio.current_time()
        with trio.CancelScope(deadline=min(began + seconds, max(began, self._ends)), shield=True) as self._under_way:
            try:
                return await self._follow(records, seconds)
            except UnreachableError as error:
                raise TopicError(f"{self._place}: {error}") from None
        raise TopicError(f"{self._place}: not written within {self._under_way.deadline - began:.3g} s")

    async def _follow(self, records: Sequence[Record], seconds: float) -> None:
        """Write to the leader, even if it moves."""
        for _ in range(TRIES - 1):
            with suppress(_MovedError):
                return await self._try(records, seconds)
            await trio.sleep(PAUSE)
        return await self._try(records, seconds)

    async def close(self) -> None:
        """Close the connection. The next write opens another one."""
        leader, self._leader = self._leader, None
        if leader is not None:
            await leader.close()

    async def _try(self, records: Sequence[Record], seconds: float) -> None:
        upstream, leader = self._upstream(), self._leader
        if leader is not None:
            if trio.current_time() < leader.until and upstream in (leader.upstream, None):
                with suppress(UnreachableError):
                    return await self._produce(leader, records, seconds)
            await self.close()
        if upstream is None:
            raise TopicError(f"{self._place}: the proxy does not serve this cluster now")
        self._leader = leader = await self._found(upstream, records[0].key or b"")
        return await self._produce(leader, records, seconds)

    async def _produce(self, leader: OwnConnection, records: Sequence[Record], seconds: float) -> None:
        try:
            await self._ask(leader, records, seconds)
        except BaseException:
            await self.close()
            raise

    async def _ask(self, leader: OwnConnection, records: Sequence[Record], seconds: float) -> None:
        version = leader.version(PRODUCE, BATCHES, NAMED)
        codec = CompressionType.ZSTD if version >= ZSTD else CompressionType.LZ4
        data = await trio.to_thread.run_sync(partial(write_batch, records, compression=codec))  # keeps no link waiting
        assert self._partition is not None, "a leader is of a partition"
        partition = ProduceRequest.Topic.Partition(index=self._partition, records=data)
        topic = ProduceRequest.Topic(name=self._topic, partition_data=[partition])
        request = ProduceRequest(acks=ALL_IN_SYNC, timeout_ms=round(seconds * 1000), topic_data=[topic])
        answer = await leader.ask(request, version, ProduceResponse, "responses")
        found = [one.error_code for each in answer.responses for one in each.partition_responses]
        if len(found) != 1:
            raise UnreachableError(leader.endpoint, "answered Produce for other partitions")
        self._check(ErrorCode(found[0]))

    async def _found(self, upstream: Upstream, key: bytes | memoryview) -> OwnConnection:
        """A connection to the leader of the key's partition. Raises UnreachableError, TopicError."""
        failed: list[UnreachableError] = []
        for _, endpoint in zip(range(CANDIDATES), upstream.anybody(), strict=False):
            try:
                return await OwnConnection.begun(upstream, await self._leader_by(upstream, endpoint, key))
            except UnreachableError as error:
                failed.append(error)
        raise failed[0]

    async def _leader_by(self, upstream: Upstream, endpoint: Endpoint, key: bytes | memoryview) -> Endpoint:
        """The address of the leader, according to this broker."""
        topics = [MetadataRequest.Topic(name=self._topic)]
        async with await OwnConnection.begun(upstream, endpoint) as asked:
            version = asked.version(METADATA, MAKES_NONE, METADATA.newest)
            request = MetadataRequest(topics=topics, allow_auto_topic_creation=False)
            answer = await asked.ask(request, version, MetadataResponse, "brokers", "topics")
        leaders: dict[int, int] = {}
        for topic in answer.topics:
            self._check(ErrorCode(topic.error_code))
            leaders = {one.partition_index: one.leader_id for one in topic.partitions}
        if self._partition not in leaders and leaders:
            self._partition = crc32(key) % len(leaders)
        at = {broker.node_id: Endpoint(broker.host, broker.port) for broker in answer.brokers}
        leader = None if self._partition is None else at.get(leaders.get(self._partition, -1))
        if leader is None:
            raise _MovedError(f"{self._place}: partition {self._partition} has no leader now; bring back its brokers")
        if (why := no_port(leader.port)) is not None:
            raise _MovedError(f"{self._place}: the leader of partition {self._partition} is at {leader}, but {why}")
        return leader

    def _check(self, error: ErrorCode) -> None:
        """Raises TopicError for any error."""
        if error:
            way_out = f"; {WAYS_OUT[error]}" if error in WAYS_OUT else ""
            made = _MovedError if error in MOVED else TopicError
            is_too_large, is_invalid = error in TOO_LARGE, error in INVALID
            raise made(f"{self._place}: {error.name}{way_out}", is_too_large=is_too_large, is_invalid=is_invalid)
