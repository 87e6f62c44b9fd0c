"""Levels: what an error in a response is about, by the struct that carries it.

Rules:
* The level of the response itself is "top". That of an element is the kind of value that identifies it (partition,
  topic, group, ...), or, if there is none, its own name (result, entry).
* A tagged error says more than whether something failed, and makes no level.
"""

from __future__ import annotations

import re
from functools import cache

from proxy.protocol.structs import Field, Struct, StructType
from proxy.protocol.wire import Meaning

TOP = "top"
# The first of these meanings that an element has names its level.
NAMED = {
    Meaning.PARTITION: "partition",
    Meaning.TOPIC_NAME: "topic",
    Meaning.TOPIC_ID: "topic",
    Meaning.GROUP_ID: "group",
    Meaning.TRANSACTIONAL_ID: "transaction",
    Meaning.COORDINATOR_KEY: "key",
    Meaning.RESOURCE_NAME: "resource",
    Meaning.USER: "user",
    Meaning.MEMBER_ID: "member",
}
_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")


@cache
def errors(cls: type[Struct], version: int) -> tuple[Field, ...]:
    """The fields of a struct that say whether it failed."""
    return tuple(it for it in cls.fields if it.meaning is Meaning.ERROR and it.tag is None and it.present(version))


@cache
def level(cls: type[Struct]) -> str:
    """The level of a struct of a response."""
    if hasattr(cls, "api"):
        return TOP
    meanings = {field.meaning for field in cls.fields if not field.is_array}
    named = next((name for meaning, name in NAMED.items() if meaning in meanings), None)
    return named or _WORD.sub("_", cls.__name__).lower()


@cache
def levels(cls: type[Struct], version: int) -> tuple[str, ...]:
    """The levels at which a response carries errors in a version, outermost first."""
    found = dict.fromkeys([level(cls)] if errors(cls, version) else ())
    for field in cls.fields:
        if field.present(version) and isinstance(field.kind, StructType):
            found |= dict.fromkeys(levels(field.kind, version))
    return tuple(found)
