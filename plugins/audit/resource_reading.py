"""Resource reading: the resources that a message names, and the results that an answer has for them.

Rules:
* The schema says which fields are names, in every API. Code for single APIs exists only for numbers of types.
* Each partition of a topic is a resource. A resource that is only in the answer, as a partition of a fetch session, is
  taken in if the answer has records or an error for it.
* Only names, numbers and sizes are kept: no other value of a client, no record, no secret.
"""

from __future__ import annotations

from typing import Any

from plugins.audit.found import FoundResources
from plugins.audit.measured import measured
from plugins.audit.request_schema import Resource
from plugins.audit.shapes import MessageShape
from plugins.audit.words import CONFIG_TYPES, TYPES_OF
from proxy.plugin import Api, ErrorCode, turn
from proxy.plugin.schema import NO_UUID

NamedTopic = tuple[str | None, bytes | None]  # the name and the id in the message


class ResourceReading:
    """Takes one message into `found`, and the names of its errors into `errors`."""

    def __init__(self, found: FoundResources, api: Api, errors: dict[str, None] | None, is_answer: bool) -> None:
        self._found = found
        self._api = api
        self._errors = errors
        self._is_answer = is_answer

    def struct(self, struct: Any, at: MessageShape, topic: NamedTopic) -> int:
        """Take in a struct and the structs in it. Returns the number of partitions found."""
        turn()
        error = None if at.error is None else getattr(struct, at.error)
        if error and self._errors is not None:
            self._errors[ErrorCode(error).name] = None
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

    def _below(self, struct: Any, at: MessageShape, topic: NamedTopic) -> int:
        partitions = 0
        for field in at.partition_lists:
            for partition in getattr(struct, field) or ():
                turn()
                self._put("topic", *topic, partition, None)
                partitions += 1
        for field, is_array, inner in at.below:
            value = getattr(struct, field)
            for one in value if is_array and value else () if is_array or value is None else (value,):
                partitions += self.struct(one, inner, topic)
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

    def _topic(self, struct: Any, at: MessageShape) -> NamedTopic:
        name = getattr(struct, at.topic) if at.topic else None
        topic_id = getattr(struct, at.topic_id) if at.topic_id else None
        if topic_id == NO_UUID:
            topic_id = None
        return name, topic_id

    def _kind(self, struct: Any, at: MessageShape) -> str:
        """The type of a resource whose type is a number in the message."""
        number = 0 if at.kind is None else getattr(struct, at.kind)
        return TYPES_OF.get(self._api, CONFIG_TYPES).get(number, f"type {number}")

    def _partition(self, struct: Any, at: MessageShape, topic: NamedTopic, error: int | None) -> None:
        data = None if at.records is None else getattr(struct, at.records)
        index = getattr(struct, at.partition or "")
        resource = self._put("topic", *topic, index, error, bool(data))
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
        has_records: bool = False,
    ) -> Resource | None:
        """Take in a resource. A new one in an answer is taken in only with records or an error."""
        matters = not self._is_answer or bool(error) or has_records
        return self._found.put(kind, name, topic_id, partition, error, is_new=matters)
