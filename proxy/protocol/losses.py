"""Losses: values of a message for which another version of its API has no place.

A message is one class for all versions, and writing it leaves out the fields that a version does not have. Code that
reads a message in one version and writes it in another checks here first whether it would become another message.

Rules:
* A field at its default is no loss.
* A request may lose nothing: code that forwards it in another version first resets the fields that may be left out.
* A response may lose fields that came with later versions: a broker would not have told them to a client of this
  version. It may not lose an array that answers elements of the request, nor a field that only older versions have:
  this version has the same in another place.
* A topic may lose its name if its id is written, and its id if its name is.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from proxy.protocol.fiber import turns
from proxy.protocol.problem import Fault, ProtocolError
from proxy.protocol.schema import Field, Message, Struct
from proxy.protocol.structs import StructType
from proxy.protocol.wire import Meaning

NAMES_TOPIC = frozenset({Meaning.TOPIC_NAME, Meaning.TOPIC_ID})


def check_losses(message: Message, version: int) -> None:
    """Raises ProtocolError for the first field that this message must not lose in this version."""
    lost = _lost(_checks(type(message), version, message.side == "request"), message)
    if lost is not None:
        what = f"cannot be said in version {version}"
        raise ProtocolError(what, fault=Fault.OURS, api=message.title(), version=version, field=lost)


class _Checks(NamedTuple):
    """The checks of one struct: the fields that must be at their default, and those to look into.

    Beside each field of `absent` stand the other fields that name the topic too: if one of them is set, it is no loss.
    """

    absent: tuple[tuple[Field, tuple[str, ...]], ...]
    inside: tuple[tuple[Field, _Checks], ...]


@cache
def _checks(cls: type[Struct], version: int, is_request: bool) -> _Checks:
    absent, inside = [], []
    for field in cls.fields:
        if not field.present(version):
            if is_request or field.last < version or field.mirrors or field.meaning in NAMES_TOPIC:
                absent.append((field, _other_names(cls, field, version)))
        elif isinstance(field.kind, StructType):
            checks = _checks(field.kind, version, is_request)
            if checks.absent or checks.inside:
                inside.append((field, checks))
    return _Checks(tuple(absent), tuple(inside))


def _other_names(cls: type[Struct], field: Field, version: int) -> tuple[str, ...]:
    if field.meaning not in NAMES_TOPIC or field.is_array:
        return ()
    return tuple(each.name for each in cls.fields if each.meaning in NAMES_TOPIC and each.present(version))


def _lost(checks: _Checks, struct: Struct) -> str | None:
    """The path of the first field that would be lost."""
    for field, names in checks.absent:
        if _is_set(struct, field) and not any(_is_set(struct, struct.field[name]) for name in names):
            return field.name
    for field, below in checks.inside:
        value = getattr(struct, field.name) if struct.has(field.name) else None
        for at, each in _elements(field, value):
            lost = _lost(below, each)
            if lost is not None:
                return f"{field.name}{at}.{lost}"
    return None


def _is_set(struct: Struct, field: Field) -> bool:
    return struct.has(field.name) and getattr(struct, field.name) != field.default()


def _elements(field: Field, value: Any) -> Any:
    """The structs of this field, and the index of each."""
    if value is None:
        return ()
    if not field.is_array:
        return [("", value)]
    return ((f"[{number}]", each) for number, each in turns(enumerate(value)))
