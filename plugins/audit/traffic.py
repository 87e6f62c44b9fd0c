"""Traffic: the resources of Produce and Fetch requests, and their results; the same as in `resources.py`, but faster.

Nearly all requests of a cluster are these two, and they have few fields that matter. A test compares both readers on
generated messages.

Rules:
* Each partition that a request names is recorded, and each for which an answer has records or an error.
* Partitions that a consumer removes from its fetch session are not recorded: they have no result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from plugins.audit.moved import Counted, NameOf, PartitionTraffic, TopicKey, beginning
from plugins.audit.request_schema import AdminChange, Resource
from plugins.audit.shared import text_bytes
from proxy.plugin import (
    FETCH,
    PRODUCE,
    Api,
    ErrorCode,
    FetchRequest,
    FetchResponse,
    Message,
    ProduceRequest,
    ProduceResponse,
    Request,
    turn,
)
from rules.noted import DecidingRules

MOST = 10_000  # partitions of one request
MOST_TEXT = 2 << 20  # bytes of the names of their topics
SIZE = 400  # bytes of a partition in memory, beside the text of its topic's name
BY_ID = {PRODUCE: 13, FETCH: 13}  # the first versions in which topics are named by their ids

# The top-level fields that are read of each message.
TRAFFIC: dict[type[Message], frozenset[str]] = {
    ProduceRequest: frozenset({"transactional_id", "acks", "topic_data"}),
    ProduceResponse: frozenset({"responses"}),
    FetchRequest: frozenset({"topics"}),
    FetchResponse: frozenset({"error_code", "responses"}),
}


class TrafficSubjects:
    """The resources of one Produce or Fetch request."""

    only_validates = False  # these requests change nothing of the cluster

    def __init__(self, api: Api, version: int) -> None:
        self.left_out = 0
        self.wants_answer = True
        self.errors: dict[str, None] | None = None  # None: no answer was read
        self.transactional_id: str | None = None
        self.partitions: dict[tuple[TopicKey, int | None], PartitionTraffic] = {}
        self._api = api
        self.by_id = version >= BY_ID[api]
        self._named = 0  # bytes of names

    @property
    def held(self) -> int:
        """Bytes that are kept until the answer comes."""
        return SIZE * (len(self.partitions) + 1) + self._named

    @property
    def weight(self) -> int:
        """The room that an event with them takes, in plain events."""
        return self.held // SIZE

    @property
    def ids(self) -> Iterator[bytes]:
        """The ids of topics that are named by their ids."""
        return (topic for topic, _ in self.partitions if isinstance(topic, bytes))

    def read(self, message: Any) -> None:
        """Take in a request, or its answer as it leaves."""
        if not isinstance(message, Request):
            self.errors = {}
            self._produced(message) if self._api is PRODUCE else self._fetched(message)
        elif self._api is PRODUCE:
            self._produce(message)
        else:
            self._fetch(message)

    def asked(self, partitions: Iterable[tuple[bytes, int, int, int, int, int]]) -> None:
        """Take in the partitions of a request that was not read. It has an answer, and no transactional id."""
        for topic, index, size, records, earliest, latest in partitions:
            moved = self._of(topic if self.by_id else topic.decode(), index)
            if moved is not None and size >= 0:
                moved.size, moved.records = size, records
                moved.first_timestamp, moved.last_timestamp = earliest, latest

    def _produce(self, request: Any) -> None:
        self.wants_answer = request.acks != 0
        self.transactional_id = request.transactional_id
        for topic in request.topic_data:
            key = topic.topic_id if self.by_id else topic.name
            for partition in topic.partition_data:
                turn()
                moved = self._of(key, partition.index)
                if moved is not None and partition.records:
                    moved.measure(partition.records, False)
            if not topic.partition_data:
                self._of(key, None)

    def _fetch(self, request: Any) -> None:
        for topic in request.topics:
            key = topic.topic_id if self.by_id else topic.topic
            for partition in topic.partitions:
                turn()
                self._of(key, partition.partition)
            if not topic.partitions:
                self._of(key, None)

    def _produced(self, response: Any) -> None:
        for topic in response.responses:
            key = topic.topic_id if self.by_id else topic.name
            for partition in topic.partition_responses:
                turn()
                moved = self._answered(key, partition.index, partition.error_code, False)
                if moved is not None and not partition.error_code and partition.base_offset >= 0 and moved.records:
                    moved.first_offset = partition.base_offset
                    moved.last_offset = partition.base_offset + moved.records - 1

    def _fetched(self, response: Any) -> None:
        for topic in response.responses:
            key = topic.topic_id if self.by_id else topic.topic
            for partition in topic.partitions:
                turn()
                records = partition.records
                moved = self._answered(key, partition.partition_index, partition.error_code, bool(records))
                if moved is not None and records:
                    moved.measure(records, True)
        if response.error_code:
            self._fail(response.error_code)
            for moved in self.partitions.values():
                moved.error = moved.error or response.error_code

    def _answered(self, key: TopicKey, index: int, error: int, has_records: bool) -> PartitionTraffic | None:
        """A partition of an answer; None: it is new, without records or an error, or there are too many."""
        moved = self.partitions.get((key, index))
        if moved is None and (error or has_records):
            moved = self._of(key, index)
        if error:
            self._fail(error)
            if moved is not None:
                moved.error = error
        return moved

    def _fail(self, error: int) -> None:
        if self.errors is not None:
            self.errors[ErrorCode(error).name] = None

    def _of(self, topic: TopicKey, index: int | None) -> PartitionTraffic | None:
        """The entry of a partition; None: there are too many."""
        key = topic, index
        moved = self.partitions.get(key)
        if moved is None:
            size = text_bytes(topic) if isinstance(topic, str) else 0
            if len(self.partitions) >= MOST or self._named + size > MOST_TEXT:
                self.left_out += 1
                return None
            self._named += size
            moved = self.partitions[key] = PartitionTraffic()
        return moved

    def resources(self, name_of: NameOf, rules: DecidingRules | None = None) -> list[Resource]:
        """All resources. `name_of` gives the names of topics by their ids, as far as they are known."""
        found: list[Resource] = []
        if self.transactional_id is not None:
            found.append(beginning("transactional_id", self.transactional_id, self._api, name_of, rules))
        heads: dict[TopicKey, Resource] = {}
        for (topic, index), moved in self.partitions.items():
            head = heads.get(topic)
            if head is None:
                head = heads[topic] = self.head(("topic", topic, None), name_of, rules)
            resource = head.copy()
            if index is not None:
                resource["partition"] = index
            moved.tell(resource)
            found.append(resource)
        return found

    def moved(self, name_of: NameOf) -> Iterator[tuple[Counted, str | None, PartitionTraffic]]:
        """The resources, each with its name, if it is known, and its result."""
        if self.transactional_id is not None:
            yield ("transactional_id", self.transactional_id, None), self.transactional_id, PartitionTraffic()
        for (topic, index), moved in self.partitions.items():
            yield ("topic", topic, index), topic if isinstance(topic, str) else name_of(topic), moved

    def head(self, key: Counted, name_of: NameOf, rules: DecidingRules | None) -> Resource:
        """The fields of a resource that do not depend on the partition."""
        return beginning(key[0], key[1], self._api, name_of, rules)

    def changes(self, name_of: NameOf) -> tuple[list[AdminChange], int]:
        """These requests change nothing of the cluster."""
        return [], 0
