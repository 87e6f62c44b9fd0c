"""Shapes: the fields of a message that name resources, found by the meanings that the schema gives to fields.

They are found once for each class and version; `resource_reading.py` uses them for every message.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from plugins.audit.changes import changing_fields
from proxy.plugin import Meaning, Message, Struct, leading
from proxy.plugin.schema import Field, StructType

TYPES = {
    Meaning.GROUP_ID: "group",
    Meaning.TRANSACTIONAL_ID: "transactional_id",
    Meaning.USER: "user",
    Meaning.TOPIC_NAME: "topic",
    Meaning.RESOURCE_NAME: "",  # the field beside it has the type
    Meaning.COORDINATOR_KEY: "",
}
WANTED = (*TYPES, Meaning.TOPIC_ID, Meaning.PARTITION, Meaning.ERROR, Meaning.RECORDS)
KIND_FIELDS = ("resource_type", "resource_type_filter", "key_type")
BASE_OFFSET = "base_offset"  # in the answer to Produce, beside the partition


class MessageShape(NamedTuple):
    """The shape of one struct: names of its fields. `named` and `lists` have the type of each, from TYPES, too."""

    named: tuple[tuple[str, str], ...]
    topic: str | None
    topic_id: str | None
    kind: str | None
    partition: str | None
    error: str | None
    records: str | None
    base_offset: bool
    lists: tuple[tuple[str, str], ...]  # arrays of names
    topic_lists: tuple[str, ...]
    partition_lists: tuple[str, ...]
    below: tuple[tuple[str, bool, MessageShape], ...]  # fields with structs, and whether they are arrays


@cache
def shape(cls: type[Struct], version: int) -> MessageShape:
    """The shape of this struct and of those in it."""
    fields = [field for field in leading(cls, *WANTED) if field.present(version)]
    single = {field.meaning: field.name for field in reversed(fields) if not field.is_array}  # the first one counts
    lists = [field for field in fields if field.is_array and not isinstance(field.kind, StructType)]
    beside = (name for name in KIND_FIELDS if name in cls.field and cls.field[name].present(version))
    return MessageShape(
        tuple((name, kind) for meaning, name in single.items() if (kind := _named(meaning)) is not None),
        single.get(Meaning.TOPIC_NAME),
        single.get(Meaning.TOPIC_ID),
        next(beside, None),
        single.get(Meaning.PARTITION),
        single.get(Meaning.ERROR),
        single.get(Meaning.RECORDS),
        BASE_OFFSET in cls.field,
        tuple((field.name, kind) for field in lists if (kind := _named(field.meaning)) is not None),
        tuple(field.name for field in lists if field.meaning in (Meaning.TOPIC_NAME, Meaning.TOPIC_ID)),
        tuple(field.name for field in lists if field.meaning is Meaning.PARTITION),
        tuple(_below(field, version) for field in fields if isinstance(field.kind, StructType)),
    )


def _named(meaning: Meaning | None) -> str | None:
    """The type of resource that a field of this meaning names; None for topics, which may have ids too."""
    return None if meaning is None or meaning is Meaning.TOPIC_NAME else TYPES.get(meaning)


def _below(field: Field, version: int) -> tuple[str, bool, MessageShape]:
    assert isinstance(field.kind, StructType)
    return field.name, field.is_array, shape(field.kind, version)


def wanted_fields(cls: type[Message]) -> frozenset[str]:
    """The top-level fields of a message that must be read for the journal."""
    found = {field.name for field in leading(cls, *WANTED)}
    return frozenset(found | ({"acks", *KIND_FIELDS} & cls.field.keys() if found else set()) | changing_fields(cls))
