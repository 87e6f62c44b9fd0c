"""Resources: what a request is about, and its results, read from the request and from its answer.

Rules:
* `resource_reading.py` finds them. An error at the top of an answer belongs to every resource without an error of its
  own.
* The time grows with the message, so `turn()` is called for each struct. The memory is bounded: resources beyond a
  limit are only counted (`found.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plugins.audit.change_results import tell_of_resources
from plugins.audit.changes import CHANGING, RequestChanges
from plugins.audit.found import SIZE, FoundResources
from plugins.audit.moved import Counted, NameOf, PartitionTraffic
from plugins.audit.operations import needed_right
from plugins.audit.request_schema import AdminChange, Resource
from plugins.audit.resource_reading import ResourceReading
from plugins.audit.shapes import shape
from proxy.plugin import Api, ErrorCode, Message, Request
from rules.noted import DecidingRules

HEAD = ("type", "name", "id", "operation", "rule")


class Subjects:
    """The resources of one request."""

    def __init__(self, api: Api, version: int) -> None:
        self.wants_answer = True
        self.errors: dict[str, None] | None = None  # None: no answer was read
        self._api = api
        self._version = version
        self._found = FoundResources()
        self._changes: RequestChanges | None = RequestChanges() if api in CHANGING else None

    @property
    def held(self) -> int:
        """Bytes that are kept until the answer comes."""
        changes = 0 if self._changes is None else self._changes.held
        return self._found.held + changes

    @property
    def left_out(self) -> int:
        """The number of resources beyond the limit."""
        return self._found.left_out

    @property
    def ids(self) -> Iterator[bytes]:
        """The ids of topics whose names are not known."""
        return (topic_id for topic_id, _ in self._found.unnamed if topic_id not in self._found.names)

    @property
    def by_id(self) -> bool:
        """Whether there are topics without names."""
        return next(self.ids, None) is not None

    @property
    def weight(self) -> int:
        """The room that an event with them takes, in plain events."""
        return self.held // SIZE

    def resources(self, name_of: NameOf, rules: DecidingRules | None = None) -> list[Resource]:
        """All resources. `name_of` gives the names of topics by their ids, as far as they are known."""
        self._found.name(name_of)
        for resource in self._found:
            self._add_right(resource, rules)
        return list(self._found)

    def _add_right(self, resource: Resource, rules: DecidingRules | None) -> None:
        """Add the right that the request needs for a resource, and the rule that decides on it."""
        right = needed_right(self._api, resource["type"])
        if right is None:
            return
        resource["operation"] = right.operation.word
        named = resource.get("name")
        place = None if rules is None or named is None else rules.place(*right[:2], right.asked(named))
        if place is not None:
            resource["rule"] = place

    def moved(self, name_of: NameOf) -> Iterator[tuple[Counted, str | None, PartitionTraffic]]:
        """The resources, each with its name, if it is known, and its result."""
        self._found.name(name_of)
        for key, resource in self._found.by_key.items():
            moved = PartitionTraffic()
            moved.size, moved.records = resource.get("bytes", -1), resource.get("records")
            moved.first_offset, moved.last_offset = resource.get("first_offset", -1), resource.get("last_offset", -1)
            moved.error = ErrorCode[resource["error"]] if "error" in resource else 0
            yield key, resource.get("name"), moved

    def head(self, key: Counted, name_of: NameOf, rules: DecidingRules | None) -> Resource:
        """The fields of a resource that do not depend on the partition; `key` is one that `moved` gave."""
        kind, name, index = key
        found = self._found.by_key[kind, str(name), index]
        self._add_right(found, rules)
        head: Any = {field: found[field] for field in HEAD if field in found}  # type: ignore[literal-required]
        resource: Resource = head
        return resource

    def changes(self, name_of: NameOf) -> tuple[list[AdminChange], int]:
        """The changes, each with the error of its resource, and the number of changes beyond the limit."""
        if self._changes is None:
            return [], 0
        self._found.name(name_of)
        names = self._found.names
        told = self._changes.told(lambda topic_id: names.get(topic_id) or name_of(topic_id))
        tell_of_resources(told, self._found)
        return told, self._changes.left_out

    @property
    def only_validates(self) -> bool:
        """Whether the request only asks whether a change would do."""
        return self._changes is not None and self._changes.only_validates

    def read(self, message: Message) -> None:
        """Take in a request, or its answer as it leaves."""
        is_answer = not isinstance(message, Request)
        if is_answer:
            self.errors = {}
        elif "acks" in message.field:
            self.wants_answer = message.acks != 0
        top = shape(type(message), self._version)
        reading = ResourceReading(self._found, self._api, self.errors if is_answer else None, is_answer)
        reading.struct(message, top, (None, None))
        error = getattr(message, top.error) if is_answer and top.error is not None else 0
        if error:
            for resource in self._found:
                resource.setdefault("error", ErrorCode(error).name)
        if self._changes is not None:
            self._changes.read(self._api, message, is_answer, error)
