"""Checks that an event follows the schema, for tests that make events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plugins.audit.columns import Column, columns
from plugins.audit.schema import KINDS, EventStamp

PYTHON = {"STRING": str, "TIMESTAMP": str, "BIGINT": int, "INT": int, "BOOLEAN": bool}


def undeclared(event: dict[str, Any]) -> list[str]:
    """The undeclared fields of an event, the missing fields of its stamp, and fields of a wrong type."""
    _, sections = KINDS[event["kind"]]
    declared = {column.name: column for column in columns(EventStamp, *sections)}
    missing = [f"{column.name}: missing" for column in columns(EventStamp) if column.name not in event]
    return missing + list(_strange(event, declared, ""))


def _strange(struct: dict[str, Any], declared: dict[str, Column], path: str) -> Iterator[str]:
    for name, value in struct.items():
        column = declared.get(name)
        if column is None:
            yield f"{path}{name}: not declared"
        elif column.inner:
            for element in value:
                yield from _strange(element, {one.name: one for one in column.inner}, f"{path}{name}.")
        elif column.type == "ARRAY<STRING>":
            yield from (f"{path}{name}: {one!r} is no string" for one in value if type(one) is not str)
        elif value is not None and type(value) is not PYTHON[column.type]:
            yield f"{path}{name}: {value!r} is no {column.type}"
