"""Walks: from a message to the names of what it asks about, by paths that the schema knows.

# A path leads down by fields: "groups.topics" is the topics of every group. A field that the version lacks, or that is
# null, leads to nothing.
# What an element is about are the fields with the meaning that fits. A client may say a topic's name and its id: who
# says both asks about both, whichever its broker would look at.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from proxy.protocol.fiber import turn, turns
from proxy.protocol.mirror import Asked, Chain
from proxy.protocol.schema import Field, Struct, structs
from proxy.protocol.wire import NO_UUID, Meaning
from rules import ResourceType

MEANINGS: dict[ResourceType, tuple[Meaning, ...]] = {
    ResourceType.TOPIC: (Meaning.TOPIC_NAME, Meaning.TOPIC_ID),
    ResourceType.GROUP: (Meaning.GROUP_ID,),
    ResourceType.TRANSACTIONAL_ID: (Meaning.TRANSACTIONAL_ID,),
}


class Array(NamedTuple):
    """An array of a message: whose it is, which field of it, and the names of the arrays that led here."""

    chain: Chain
    field: Field
    path: tuple[str, ...]

    @property
    def elements(self) -> list[Any]:
        found: list[Any] = getattr(self.chain[-1], self.field.name)
        return found

    def link(self, element: Any) -> Chain:
        """The chain down to one element."""
        return (*self.chain, element if isinstance(element, Struct) else Asked(self.field, element))


def arrays(path: str, version: int, message: Struct) -> Iterator[Array]:
    """The arrays at the end of `path`."""
    yield from _arrays(path.split("."), version, (message,), ())


def _arrays(path: list[str], version: int, chain: Chain, above: tuple[str, ...]) -> Iterator[Array]:
    turn()
    name, *rest = path
    field = chain[-1].field[name]
    value = getattr(chain[-1], name) if field.present(version) else None
    if value is None:
        return
    here = (*above, name)
    if not rest:
        yield Array(chain, field, here)
        return
    for element in value if field.is_array else (value,):
        yield from _arrays(rest, version, (*chain, element), here)


def values(path: str, version: int, message: Struct) -> Iterator[Any]:
    """The values at the end of `path`, those of arrays one by one; nulls are left out."""
    structs: list[Any] = [message]
    *way, last = path.split(".")
    for name in (*way, last):
        found: list[Any] = []
        for struct in turns(structs):
            field = struct.field[name]
            value = getattr(struct, name) if field.present(version) else None
            if value is not None:
                found += value if field.is_array else (value,)
        structs = found
    yield from structs


@cache
def naming(cls: type[Struct], kind: ResourceType, version: int) -> tuple[str, ...]:
    """The fields of an element that say which resource it is about, the best first."""
    return tuple(
        field.name
        for meaning in MEANINGS[kind]
        for field in cls.fields
        if field.meaning is meaning and field.present(version) and not field.is_array
    )


def subjects(element: Any, kind: ResourceType, version: int) -> list[str | bytes]:
    """What an element of an array is about: a name, or a topic's id; both where a client says both."""
    turn()
    if not isinstance(element, Struct):
        return [element]
    said = [getattr(element, name) for name in naming(type(element), kind, version)]
    meant = [value for value in said if value is not None and value != NO_UUID]
    if not meant and NO_UUID not in said:
        raise ValueError(f"{type(element).__qualname__} names no {kind.word}")
    return meant or [NO_UUID]


def subject(element: Any, kind: ResourceType, version: int) -> str | bytes:
    """What an element of an answer is about: its name where it has one, else its id."""
    return subjects(element, kind, version)[0]


@cache
def carriers(root: type[Struct], meaning: Meaning) -> tuple[type[Struct], ...]:
    """The structs inside a message that have a field of this meaning."""
    return tuple(struct for struct in structs(root) if any(field.meaning is meaning for field in struct.fields))


def found(message: Struct, wanted: tuple[type[Struct], ...], version: int) -> Iterator[Any]:
    """Every struct of these classes in a message."""
    turn()
    if isinstance(message, wanted):
        yield message
    for field in message.fields:
        if isinstance(field.kind, type) and issubclass(field.kind, Struct) and field.present(version):
            value = getattr(message, field.name)
            for child in (value or ()) if field.is_array else (value,):
                if child is not None:
                    yield from found(child, wanted, version)
