"""Walks over messages: to the fields of a meaning, and down a path of fields.

Rules:
* A path leads down by fields: "groups.topics" is the topics of every group. A field that the version lacks, or that is
  null, leads to nothing.
* A walk only enters structs that lead to its target. Facts about a class are worked out once.
* A walk calls `turn()` for each struct that it enters: in a fiber, other connections have their turn meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from proxy.protocol.fiber import turn
from proxy.protocol.structs import Field, Struct, StructType
from proxy.protocol.wire import Meaning


class Element(NamedTuple):
    """A value that is no struct, and its field: a topic's name, or one of an array of names."""

    field: Field
    value: Any


StructChain = tuple[Any, ...]  # a message, the structs on the way down, and last a Struct or an Element


class Array(NamedTuple):
    """An array of a message: the chain to its struct, its field, and the names of the fields that led here."""

    chain: StructChain
    field: Field
    path: tuple[str, ...]

    @property
    def elements(self) -> list[Any]:
        """Its elements; if the field is no array, its value alone."""
        value = getattr(self.chain[-1], self.field.name)
        return value if self.field.is_array else [value]

    def link(self, element: Any) -> StructChain:
        """The chain down to one element."""
        return (*self.chain, element if isinstance(element, Struct) else Element(self.field, element))


def arrays(path: str, version: int, *chain: Any) -> Iterator[Array]:
    """The arrays at the end of `path`, from the struct at the end of the chain on."""
    return _arrays(path.split("."), version, chain, ())


def _arrays(path: list[str], version: int, chain: StructChain, above: tuple[str, ...]) -> Iterator[Array]:
    turn()
    name, *rest = path
    field = chain[-1].field[name]
    if not field.present(version) or getattr(chain[-1], name) is None:
        return
    array = Array(chain, field, (*above, name))
    if not rest:
        yield array
        return
    for element in array.elements:
        yield from _arrays(rest, version, (*chain, element), array.path)


def values(path: str, version: int, struct: Struct) -> Iterator[Any]:
    """The values at the end of `path`, those of arrays one by one; nulls are left out."""
    for array in arrays(path, version, struct):
        yield from array.elements


@cache
def leading(cls: type[Struct], *meanings: Meaning) -> tuple[Field, ...]:
    """The fields of a struct that have one of these meanings, or in which such a field lies."""
    return tuple(
        field
        for field in cls.fields
        if field.meaning in meanings or (isinstance(field.kind, StructType) and leading(field.kind, *meanings))
    )


@cache
def paths(cls: type[Struct], *meanings: Meaning) -> tuple[str, ...]:
    """The paths to all fields of these meanings, in the order of their declaration."""
    found = []
    for field in leading(cls, *meanings):
        inner = paths(field.kind, *meanings) if isinstance(field.kind, StructType) else ()
        found += [f"{field.name}.{path}" for path in inner] or [field.name]
    return tuple(found)


def elements(struct: Any) -> int:
    """How many elements all arrays of a struct have, at any depth."""
    found = 0
    cls: type[Struct] = type(struct)
    for name, is_array, is_last in _arrays_in(cls):
        value = getattr(struct, name) if struct.has(name) else None
        if value is None:
            continue
        found += len(value) if is_array else 0
        if not is_last:
            found += sum(map(elements, value if is_array else (value,)))
    return found


@cache
def _arrays_in(cls: type[Struct]) -> tuple[tuple[str, bool, bool], ...]:
    """The fields that are arrays, or contain some: is the field an array, and are there none further down?"""
    found = []
    for field in cls.fields:
        is_last = not (isinstance(field.kind, StructType) and _arrays_in(field.kind))
        if field.is_array or not is_last:
            found.append((field.name, field.is_array, is_last))
    return tuple(found)


def structs_with(struct: Any, meaning: Meaning) -> list[Any]:
    """Every struct with a field of this meaning, from this one on down."""
    turn()
    cls: type[Struct] = type(struct)
    has_one, ways = _ways(cls, meaning)
    found = [struct] if has_one else []
    for name, is_array, is_last in ways:
        value = getattr(struct, name)
        inner = value if is_array else () if value is None else (value,)
        if is_last:
            found += inner
            continue
        for each in inner:
            found += structs_with(each, meaning)
    return found


@cache
def _ways(cls: type[Struct], meaning: Meaning) -> tuple[bool, tuple[tuple[str, bool, bool], ...]]:
    """Has it such a field? And its fields with such structs inside: is it an array, and are none further down?"""
    fields = leading(cls, meaning)
    ways = [
        (field.name, field.is_array, all(inner.meaning is meaning for inner in leading(field.kind, meaning)))
        for field in fields
        if isinstance(field.kind, StructType)
    ]
    return any(field.meaning is meaning for field in fields), tuple(ways)
