"""Messages made from the schema: every field of a version, with values that are easy to get wrong."""

import random
from collections.abc import Iterator
from typing import Any, TypeVar

from proxy.protocol.api import APIS
from proxy.protocol.messages.produce import ProduceRequest
from proxy.protocol.schema import Field, Message, Struct, StructType, blank
from proxy.protocol.wire import BOOL, BYTES, FLOAT64, INT8, LEGACY_STRING, RECORDS, STRING, UUID

S = TypeVar("S", bound=Struct)

INTEGERS = {"b": (8, True), "h": (16, True), "H": (16, False), "i": (32, True), "q": (64, True)}
EVERY = [
    (cls, version) for api in APIS.values() for cls in (api.request, api.response) for version in api.versions
]  # each message class in each of its versions


def make(cls: type[S], version: int, dice: random.Random) -> S:
    """A message or struct with a value in each field of this version."""
    struct = blank(cls)
    for field in cls.fields:
        if field.present(version) and (field.tag is None or dice.random() < 0.7):
            setattr(struct, field.name, value(field, version, dice))
    return struct


def value(field: Field, version: int, dice: random.Random) -> Any:
    """A value for one field: null, empty, long, or at the limits of its range."""
    if field.may_be_null(version) and dice.random() < 0.2:
        return None
    if field.is_array:
        return [
            one(field, version, dice)
            for _ in range(dice.choice([0, 1, 2, 3, 40]) if _number(field) else dice.randint(0, 3))
        ]
    return one(field, version, dice)


def _number(field: Field) -> bool:
    return not isinstance(field.kind, StructType) and field.kind.fmt in INTEGERS


def one(field: Field, version: int, dice: random.Random) -> Any:
    """One value of a field's kind."""
    kind = field.kind
    if isinstance(kind, StructType):
        return make(kind, version, dice)
    if kind.fmt in INTEGERS:
        bits, signed = INTEGERS[kind.fmt]
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        return dice.choice([low, high, 0, dice.randint(low, high)])
    if kind is BOOL:
        return dice.random() < 0.5
    if kind is FLOAT64:
        return dice.choice([0.0, -1.5, float("inf"), dice.random()])
    if kind is UUID:
        return dice.randbytes(16)
    size = dice.choice([0, 1, 5, 126, 127, 128, 300])
    if kind in (STRING, LEGACY_STRING):
        return "".join(dice.choice("abcé日x") for _ in range(size))
    assert kind in (BYTES, RECORDS)
    return dice.randbytes(size)


def structs_of(message: Message) -> list[Struct]:
    """Every struct in a message, itself first."""
    found: list[Struct] = [message]
    for struct in found:  # the list grows during the loop
        for field in struct.fields:
            if isinstance(field.kind, StructType) and struct.has(field.name):
                inner = getattr(struct, field.name)
                found += inner if field.is_array and inner is not None else [inner] if isinstance(inner, Struct) else []
    return found


def some(cls: Any, version: int, numbers: Iterator[int]) -> Any:
    """A message with two elements in each array, without equal values and without nulls."""
    struct = blank(cls)
    for field in cls.fields:
        if field.present(version):
            values = [_numbered(field, version, numbers) for _ in range(2 if field.is_array else 1)]
            setattr(struct, field.name, values if field.is_array else values[0])
    if isinstance(struct, ProduceRequest):
        struct.acks = -1
    return struct


def _numbered(field: Field, version: int, numbers: Iterator[int]) -> Any:
    if isinstance(field.kind, StructType):
        return some(field.kind, version, numbers)
    number = next(numbers)
    fixed = {
        BOOL: True,
        INT8: 3,  # a number that is valid as a resource type, pattern, operation and permission
        FLOAT64: float(number),
        UUID: bytes([number % 256]) * 16,
        STRING: f"{field.name}-{number}",
        BYTES: b"%d" % number,
        RECORDS: b"",
    }
    if field.name == "security_protocol":
        return 1
    return fixed.get(field.kind, number)
