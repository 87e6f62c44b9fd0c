"""Resources: what a request is about, and what came of each, read from the request and from its answer.

Rules:
* Whatever has a name in the schema is found, in every API: there is no code for one API, but for how a type is written.
* Of a topic's partitions each is one resource. What an answer names and the request did not, as partitions of a fetch
  session, is taken in where records or an error are beside it.
* An error at the top of an answer is that of every resource that has none of its own.
* Names, numbers and sizes are kept, and nothing else: no value that a client chose but these, no record, no secret.
* The work grows with the message, so `turn()` is said for each struct. What is kept does not: the rest is counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plugins.audit.changes import CHANGING, RequestChanges
from plugins.audit.measured import measured
from plugins.audit.moved import Counted, Names, PartitionTraffic
from plugins.audit.operations import needed_right
from plugins.audit.request_schema import AdminChange, Resource
from plugins.audit.shapes import MessageShape, shape
from plugins.audit.shared import text_bytes
from plugins.audit.words import CONFIG_TYPES, TYPES_OF, id_text
from proxy.plugin import (
    Api,
    ErrorCode,
    Message,
    Request,
    turn,
)
from proxy.plugin.schema import NO_UUID
from rules.noted import NotedRules

MOST = 10_000  # resources of one request
MOST_TEXT = 2 << 20  # bytes of their names: in a line each may take six times as many
SIZE = 400  # bytes that one takes in memory, beside the text of its name

HEAD = ("type", "name", "id", "operation", "rule")

Topic = tuple[str | None, bytes | None]  # the name and the id that the message says


class Subjects:
    """What one request is about."""

    def __init__(self, api: Api, version: int) -> None:
        self.left_out = 0
        self.wants_answer = True
        self.errors: dict[str, None] | None = None  # None: no answer was read
        self._api = api
        self._version = version
        self.unnamed: list[tuple[bytes, Resource]] = []  # topics that only have an id
        self._found: dict[tuple[str, str, int | None], Resource] = {}
        self._named = 0  # bytes of names
        self._is_answer = False
        self._changes: RequestChanges | None = RequestChanges() if api in CHANGING else None

    @property
    def held(self) -> int:
        """Bytes that are kept until the answer comes."""
        changes = 0 if self._changes is None else self._changes.held
        return SIZE * (len(self._found) + 1) + self._named + changes

    @property
    def ids(self) -> Iterator[bytes]:
        """The topics that are named by their ids alone."""
        return (topic_id for topic_id, _ in self.unnamed)

    @property
    def by_id(self) -> bool:
        """Are there topics without names?"""
        return bool(self.unnamed)

    @property
    def weight(self) -> int:
        """How much room an event takes that tells of them, in plain events."""
        return self.held // SIZE

    def resources(self, name_of: Names, rules: NotedRules | None = None) -> list[Resource]:
        """All that was found. `name_of` gives the names of topics by their ids, as far as they are known."""
        self._name(name_of)
        for resource in self._found.values():
            self._add_right(resource, rules)
        return list(self._found.values())

    def _name(self, name_of: Names) -> None:
        for topic_id, resource in self.unnamed:
            name = name_of(topic_id)
            if name is not None:
                resource["name"] = name

    def _add_right(self, resource: Resource, rules: NotedRules | None) -> None:
        """Say which right it needs, and by which rule it has it."""
        right = needed_right(self._api, resource["type"])
        if right is None:
            return
        resource["operation"] = right.operation.word
        named = resource.get("name")
        place = None if rules is None or named is None else rules.place(*right[:2], right.asked(named))
        if place is not None:
            resource["rule"] = place

    def moved(self, name_of: Names) -> Iterator[tuple[Counted, str | None, PartitionTraffic]]:
        """What it is about, each with its name, if that is known, and with what came of it."""
        self._name(name_of)
        for key, resource in self._found.items():
            moved = PartitionTraffic()
            moved.size, moved.records = resource.get("bytes", -1), resource.get("records")
            moved.first_offset, moved.last_offset = resource.get("first_offset", -1), resource.get("last_offset", -1)
            moved.error = ErrorCode[resource["error"]] if "error" in resource else 0
            yield key, resource.get("name"), moved

    def head(self, key: Counted, name_of: Names, rules: NotedRules | None) -> Resource:
        """What is said of something that `moved` gave, whatever the partition."""
        kind, name, index = key
        found = self._found[kind, str(name), index]
        self._add_right(found, rules)
        head: Any = {field: found[field] for field in HEAD if field in found}  # type: ignore[literal-required]
        resource: Resource = head
        return resource

    def changes(self, name_of: Names) -> tuple[list[AdminChange], int]:
        """What it changes, each with the error of the resource that it is about, and how many more there are."""
        if self._changes is None:
            return [], 0
        self._name(name_of)
        failed: dict[tuple[str, str | None, int | None], str] = {}
        for resource in self._found.values():
            if "error" in resource:
                for name in (resource.get("name"), resource.get("id")):
                    failed[resource["type"], name, resource.get("partition")] = resource["error"]
        for change in self._changes.told(name_of):
            of_all = failed.get((change["type"], change["name"], None))
            error = failed.get((change["type"], change["name"], change.get("partition")), of_all)
            if error is not None:
                change.setdefault("error", error)
        return self._changes.found, self._changes.left_out

    def read(self, message: Message) -> None:
        """Take in a request, or its answer as it leaves."""
        self._is_answer = not isinstance(message, Request)
        if self._is_answer:
            self.errors = {}
        elif "acks" in message.field:
            self.wants_answer = message.acks != 0
        top = shape(type(message), self._version)
        self._struct(message, top, (None, None))
        if self._is_answer and top.error is not None and (error := getattr(message, top.error)):
            for resource in self._found.values():
                resource.setdefault("error", ErrorCode(error).name)
        if self._changes is not None:
            self._changes.read(self._api, message, self._is_answer)

    def _struct(self, struct: Any, at: MessageShape, topic: Topic) -> int:
        """Take in a struct and what is below it. Gives how many partitions were found."""
        turn()
        error = None if at.error is None else getattr(struct, at.error)
        if error and self.errors is not None:
            self.errors[ErrorCode(error).name] = None
        for field, kind in at.named:
            name = getattr(struct, field)
            if name is not None:
                self._put(kind or self._kind(struct, at), name, None, None, error)
        if at.topic or at.topic_id:
            topic = self._topic(struct, at)
        if at.partition is not None:
            self._partition(struct, at, topic, error)
            partitions = 1
        else:
            partitions = self._below(struct, at, topic)
            if (at.topic or at.topic_id) and topic != (None, None) and (error or not partitions):
                self._put("topic", *topic, None, error)
        self._lists(struct, at)
        return partitions

    def _below(self, struct: Any, at: MessageShape, topic: Topic) -> int:
        partitions = 0
        for field in at.partition_lists:
            for partition in getattr(struct, field) or ():
                turn()
                self._put("topic", *topic, partition, None)
                partitions += 1
        for field, is_array, inner in at.below:
            value = getattr(struct, field)
            for one in value if is_array and value else () if is_array or value is None else (value,):
                partitions += self._struct(one, inner, topic)
        return partitions

    def _lists(self, struct: Any, at: MessageShape) -> None:
        for field, kind in at.lists:
            for name in getattr(struct, field) or ():
                turn()
                self._put(kind or self._kind(struct, at), name, None, None, None)
        for field in at.topic_lists:
            for one in getattr(struct, field) or ():
                turn()
                name, topic_id = (one, None) if isinstance(one, str) else (None, one)
                self._put("topic", name, topic_id, None, None)

    def _topic(self, struct: Any, at: MessageShape) -> Topic:
        name = getattr(struct, at.topic) if at.topic else None
        topic_id = getattr(struct, at.topic_id) if at.topic_id else None
        if topic_id == NO_UUID:
            topic_id = None
        return name, topic_id

    def _kind(self, struct: Any, at: MessageShape) -> str:
        """The type of a resource that is named with a number beside it."""
        number = 0 if at.kind is None else getattr(struct, at.kind)
        return TYPES_OF.get(self._api, CONFIG_TYPES).get(number, f"type {number}")

    def _partition(self, struct: Any, at: MessageShape, topic: Topic, error: int | None) -> None:
        data = None if at.records is None else getattr(struct, at.records)
        index = getattr(struct, at.partition or "")
        resource = self._put("topic", *topic, index, error, has_records=bool(data))
        if resource is None:
            return
        if data:
            resource["bytes"] = len(data)
            count, first, last, earliest, latest = measured(data, self._is_answer)
            if count is not None:
                resource["records"] = count
            if self._is_answer and count:
                resource["first_offset"], resource["last_offset"] = first, last
            elif not self._is_answer and latest >= 0:
                resource["first_timestamp"], resource["last_timestamp"] = earliest, latest
        if at.base_offset and not error and struct.base_offset >= 0 and resource.get("records"):
            resource["first_offset"] = struct.base_offset
            resource["last_offset"] = struct.base_offset + resource["records"] - 1

    def _put(
        self,
        kind: str,
        name: str | None,
        topic_id: bytes | None,
        partition: int | None,
        error: int | None,
        *,
        has_records: bool = False,
    ) -> Resource | None:
        """The resource of this name; None: the answer speaks of one that is of no matter, or there are too many."""
        shown = None if topic_id is None else id_text(topic_id)
        key = kind, name or shown or "", partition
        resource = self._found.get(key)
        if resource is None and shown is not None:  # an answer may say the name too
            resource = self._found.get((kind, shown, partition))
        if resource is None:
            if self._is_answer and not error and not has_records:
                return None
            size = text_bytes(name)
            if len(self._found) >= MOST or self._named + size > MOST_TEXT:
                self.left_out += 1
                return None
            self._named += size
            resource = self._found[key] = {"type": kind}
            if name is not None:
                resource["name"] = name
            if topic_id is not None and shown is not None:
                resource["id"] = shown
                if name is None:
                    self.unnamed.append((topic_id, resource))
            if partition is not None:
                resource["partition"] = partition
        if error:
            resource["error"] = ErrorCode(error).name
        return resource
