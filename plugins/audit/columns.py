"""Columns: the fields of a table, made from the declaration of a typed dict.

A field's hint is `Annotated[type, its meaning]`, with `Since(VERSION)` if a later version of the schema brought it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints, is_typeddict


@dataclass(frozen=True)
class Since:
    """The version of the schema that brought a field. A field without it was in the first version."""

    version: int


Timestamp = Annotated[str, "TIMESTAMP"]  # 2026-03-01T08:00:00.000000Z
Small = Annotated[int, "INT"]
PRIMITIVES: dict[Any, str] = {str: "STRING", int: "BIGINT", bool: "BOOLEAN"}


@dataclass(frozen=True)
class Column:
    """One field of the table, or of a struct in it. `inner`: the fields of a struct, or of an array's structs."""

    name: str
    type: str  # as Spark writes it
    meaning: str
    since: int
    inner: tuple[Column, ...] = ()


def columns(*sections: type) -> tuple[Column, ...]:
    """The fields that these typed dicts declare."""
    found: dict[str, Column] = {}
    for section in sections:
        for name, hint in get_type_hints(section, include_extras=True).items():
            found.setdefault(name, _column(name, hint))
    return tuple(found.values())


def _column(name: str, hint: Any) -> Column:
    inner, *said = get_args(hint)
    texts = [one for one in said if isinstance(one, str)]
    since = next((one.version for one in said if isinstance(one, Since)), 1)
    if get_origin(inner) is list:
        (element,) = get_args(inner)
        below = columns(element) if is_typeddict(element) else ()
        return Column(name, f"ARRAY<{_struct(below) if below else PRIMITIVES[element]}>", texts[-1], since, below)
    kind = texts[0] if len(texts) > 1 else PRIMITIVES[inner]  # the aliases above have their type as the first text
    return Column(name, kind, texts[-1], since)


def _struct(inner: tuple[Column, ...]) -> str:
    return f"STRUCT<{', '.join(f'`{column.name}`: {column.type}' for column in inner)}>"
