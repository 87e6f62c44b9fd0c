"""Well-formed: whether the JSON of a line is an event, for readers that take its fields as the schema declares them.

Rules:
* An event has the stamp of every event, and no field of a wrong type, as in reports (`reports/pipeline/lines.py`).
* A field may be null. Fields that are not known are of a newer version, and may have any type.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from pydantic_core import CoreSchema, SchemaValidator
from pydantic_core.core_schema import (
    bool_schema,
    int_schema,
    list_schema,
    nullable_schema,
    str_schema,
    typed_dict_field,
    typed_dict_schema,
)

from plugins.audit.columns import Column, columns
from plugins.audit.schema import EventStamp, table

PRIMITIVES: dict[str, CoreSchema] = {
    "STRING": str_schema(),
    "TIMESTAMP": str_schema(),
    "BOOLEAN": bool_schema(),
    "INT": int_schema(ge=-(1 << 31), lt=1 << 31),
    "BIGINT": int_schema(ge=-(1 << 63), lt=1 << 63),
    "ARRAY<STRING>": list_schema(str_schema()),
}


def is_event(found: object) -> bool:
    """Whether this value, as it was read from JSON, is an event."""
    return _events.isinstance_python(found, strict=True) and _is_moment(found["time"])  # type: ignore[index]


def _fields(known: Iterable[Column], needed: frozenset[str] = frozenset()) -> CoreSchema:
    fields = {}
    for column in known:
        schema = list_schema(_fields(column.inner)) if column.inner else PRIMITIVES[column.type]
        is_needed = column.name in needed
        fields[column.name] = typed_dict_field(schema if is_needed else nullable_schema(schema), required=is_needed)
    return typed_dict_schema(fields, extra_behavior="allow")


def _is_moment(text: str) -> bool:
    try:
        return text.endswith("Z") and bool(datetime.fromisoformat(text))
    except ValueError:
        return False


_events = SchemaValidator(_fields(table(), frozenset(column.name for column in columns(EventStamp))))
