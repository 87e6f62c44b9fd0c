"""Shared: fields that many events share are kept once, and their JSON is made once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from sys import getsizeof
from typing import Any

from pydantic_core import to_json

PLAIN = 400  # bytes of text that weigh as much as one event


def text_bytes(text: str | None) -> int:
    """Bytes that the characters of a text take."""
    return getsizeof(text) - getsizeof("") if text else 0


def fields_json(fields: Mapping[str, Any]) -> bytes:
    """Fields as they stand in a line, without the braces. Raises PydanticSerializationError and ValueError."""
    return to_json(fields)[1:-1]


class SharedFields:
    """Fields that many events share: those of the client. They never change."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.fields = fields
        self.weight = sum(text_bytes(value) for value in fields.values() if isinstance(value, str)) // PLAIN

    @cached_property
    def json(self) -> bytes:
        """The fields as they stand in a line, without the braces."""
        return fields_json(self.fields)
