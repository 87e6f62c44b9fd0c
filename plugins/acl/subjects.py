"""Subjects: which resources a message names, by the meanings that the schema gives to its fields.

Rules:
* A message may name one resource in a top-level field (`name_field`), and others in the elements of its arrays
  (`array_paths`).
* An element names a resource in its fields of the fitting meaning. Where it has both a topic's name and an id, both
  are checked, whichever of them the broker would use.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from proxy.plugin import Meaning, Struct, turn
from proxy.plugin.schema import NO_UUID, Field, paths
from rules import ResourceType

MEANINGS: dict[ResourceType, tuple[Meaning, ...]] = {
    ResourceType.TOPIC: (Meaning.TOPIC_NAME, Meaning.TOPIC_ID),
    ResourceType.GROUP: (Meaning.GROUP_ID,),
    ResourceType.TRANSACTIONAL_ID: (Meaning.TRANSACTIONAL_ID,),
}


@cache
def name_field(cls: type[Struct], kind: ResourceType) -> Field:
    """The field of a message that names the one resource of this kind."""
    (field,) = (field for field in cls.fields if field.meaning in MEANINGS[kind] and not field.is_array)
    return field


@cache
def array_paths(cls: type[Struct], kind: ResourceType) -> tuple[str, ...]:
    """The paths to the arrays of a message whose elements each name a resource of this kind."""
    found: dict[str, None] = {}
    for path in paths(cls, *MEANINGS[kind]):
        names, struct, depth = path.split("."), cls, 0
        for index, name in enumerate(names, 1):
            field = struct.field[name]
            depth = index if field.is_array else depth
            struct = field.kind  # type: ignore[assignment]
        if depth:
            found[".".join(names[:depth])] = None
    return tuple(found)


@cache
def naming(cls: type[Struct], kind: ResourceType, version: int) -> tuple[str, ...]:
    """The fields of an element that name its resource, the best first."""
    return tuple(
        field.name
        for meaning in MEANINGS[kind]
        for field in cls.fields
        if field.meaning is meaning and field.present(version) and not field.is_array
    )


def subjects(element: Any, kind: ResourceType, version: int) -> list[str | bytes]:
    """The resources that an element of an array names: a name, or a topic's id, or both."""
    turn()
    if not isinstance(element, Struct):
        return [element]
    said = [getattr(element, name) for name in naming(type(element), kind, version)]
    meant = [value for value in said if value is not None and value != NO_UUID]
    if not meant and NO_UUID not in said:
        raise ValueError(f"{type(element).__qualname__} names no {kind.word}")
    return meant or [NO_UUID]


def subject(element: Any, kind: ResourceType, version: int) -> str | bytes:
    """The resource that an element of an answer names: its name where it has one, else its id."""
    return subjects(element, kind, version)[0]
