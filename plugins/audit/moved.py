"""Moved: the records written to, or read from, one partition, and the fields of an event for them."""

from __future__ import annotations

from collections.abc import Callable

from plugins.audit.measured import measured
from plugins.audit.operations import needed_right
from plugins.audit.request_schema import Resource
from plugins.audit.words import id_text
from proxy.plugin import Api, ErrorCode
from proxy.plugin.schema import NO_UUID
from rules.noted import DecidingRules

NameOf = Callable[[bytes], str | None]
TopicKey = str | bytes  # a name, or an id
Counted = tuple[str, TopicKey, int | None]  # the type, name and partition of a resource


class PartitionTraffic:
    """Records written to, or read from, one partition. -1: not known; `records` None: they cannot be counted."""

    __slots__ = ("error", "first_offset", "first_timestamp", "last_offset", "last_timestamp", "records", "size")

    def __init__(self) -> None:
        self.size = -1  # in bytes; -1: there were no records
        self.records: int | None = None
        self.first_offset = self.last_offset = self.first_timestamp = self.last_timestamp = -1
        self.error = 0

    def measure(self, data: bytes | memoryview, is_answer: bool) -> None:
        """Measure these records."""
        self.size = len(data)
        self.records, first, last, earliest, latest = measured(data, is_answer)
        if is_answer:
            self.first_offset, self.last_offset = first, last
        else:
            self.first_timestamp, self.last_timestamp = earliest, latest

    def tell(self, resource: Resource) -> None:
        """Add the result to the fields of a resource."""
        if self.error:
            resource["error"] = ErrorCode(self.error).name
        if self.size >= 0:
            resource["bytes"] = self.size
            if self.records is not None:
                resource["records"] = self.records
                if self.first_offset >= 0 and self.records:
                    resource["first_offset"], resource["last_offset"] = self.first_offset, self.last_offset
            if self.last_timestamp >= 0:
                resource["first_timestamp"] = self.first_timestamp
                resource["last_timestamp"] = self.last_timestamp


def beginning(kind: str, key: TopicKey, api: Api, name_of: NameOf, rules: DecidingRules | None) -> Resource:
    """The fields of a resource of this name or id, without its result."""
    resource: Resource = {"type": kind}
    right = needed_right(api, kind)
    assert right is not None, "these APIs need rights for all that they are about"
    resource["operation"] = right.operation.word
    name = key if isinstance(key, str) else name_of(key)
    if name is not None:
        resource["name"] = name
        place = None if rules is None else rules.place(right.operation, right.kind, name)
        if place is not None:
            resource["rule"] = place
    if isinstance(key, bytes) and key != NO_UUID:
        resource["id"] = id_text(key)
    return resource
