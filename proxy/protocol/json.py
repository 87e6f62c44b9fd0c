"""Messages <-> Kafka's own JSON notation: that of a broker's request log and of its JsonConverter classes.

Rules, Kafka's:
* Names are camel case. All fields of the version are there, but a tagged field only if it is not at its default.
* Bytes are base64, uuids base64url without padding, NaN and the infinities strings; records are written as
  base64 too, so that nothing is lost (Kafka leaves them out, or gives their size).
* Unknown tagged fields stand under `_unknownTags`, which Kafka does not have: its JSON loses them.
* A value that the version cannot have raises ProtocolError with the path of the field.
* Ours: with `secrets=False` secrets are written as `***`. These are the fields that the schema declares as secret and,
  as in a broker's log, the values of configs that are passwords, keys or stores. Such JSON is for reading; it has no
  inverse.
"""

from __future__ import annotations

import base64
import math
import re
from typing import Any, TypeVar

from proxy.protocol.plan import Fixed, Many, Move, Nested, Plan, PlanStep, Varying, plan
from proxy.protocol.problem import Fault, ProtocolError
from proxy.protocol.schema import Field, Message, Struct, blank
from proxy.protocol.wire import BOOL, BYTES, FLOAT64, RECORDS, UUID, Meaning

UNKNOWN_TAGS = "_unknownTags"
HIDDEN = "***"
# Kafka's configs of type PASSWORD, and the usual names of such configs of broker plugins.
CONFIG_SECRET = re.compile(r"password|secret|passphrase|jaas|\bssl\.\w+\.(key|certificates?)\b", re.IGNORECASE)
UUID_TEXT = 22  # characters of base64 for 16 bytes, without the padding

M = TypeVar("M", bound=Message)


def to_json(message: Message, version: int, *, secrets: bool = True) -> dict[str, Any]:
    """The message as JSON values, in `version`; without `secrets` they are hidden."""
    return _struct_to(plan(type(message), version), message, secrets)


def _struct_to(layout: Plan, struct: Struct, secrets: bool) -> dict[str, Any]:
    out = {}
    for step in (*layout.steps, *layout.tags):
        field = step.field
        value = getattr(struct, field.name)
        if field.tag is None or (struct.has(field.name) and value != field.default()):
            hidden = not secrets and value and _is_secret(struct, field)
            out[field.json] = HIDDEN if hidden else _to(step.move, value, secrets)
    if struct.unknown_tags:
        out[UNKNOWN_TAGS] = {str(tag): _base64(data) for tag, data in struct.unknown_tags}
    return out


def _is_secret(struct: Struct, field: Field) -> bool:
    if field.name == "value" and "name" in struct.field:
        return CONFIG_SECRET.search(str(struct.name)) is not None
    return field.meaning is Meaning.SECRET


def _base64(data: bytes | memoryview) -> str:
    return base64.b64encode(data).decode()


def _to(move: Move, value: Any, secrets: bool) -> Any:
    if value is None:
        return None
    if isinstance(move, Many):
        return [_to(move.element, item, secrets) for item in value]
    if isinstance(move, Nested):
        return _struct_to(move.plan, value, secrets)
    if move.primitive is UUID:
        return base64.urlsafe_b64encode(value).decode().rstrip("=")
    if move.primitive in (BYTES, RECORDS):
        return _base64(value)
    if move.primitive is FLOAT64 and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    return value


def from_json(cls: type[M], version: int, value: Any) -> M:
    """The message of this class that `value` describes: the inverse of `to_json`. Raises ProtocolError."""
    if cls.api is not None and version not in cls.api.versions:
        raise ProtocolError(f"knows versions 0 to {cls.api.newest}, not {version}", api=cls.title())
    try:
        message: M = _struct_from(plan(cls, version), value, "")
    except _Wrong as wrong:
        raise ProtocolError(
            wrong.what, fault=Fault.OURS, api=cls.title(), version=version, field=wrong.path or None
        ) from None
    return message


class _Wrong(Exception):  # noqa: N818 (a signal inside this module)
    def __init__(self, what: str, path: str) -> None:
        self.what, self.path = what, path


def _struct_from(layout: Plan, value: Any, path: str) -> Any:
    if not isinstance(value, dict):
        raise _Wrong(f"needs a JSON object, not {value!r}", path)
    prefix = f"{path}." if path else ""
    names: dict[str, PlanStep] = {step.field.json: step for step in (*layout.steps, *layout.tags)}
    struct = blank(layout.struct)
    for name, item in value.items():
        if name == UNKNOWN_TAGS and layout.flexible:
            struct.unknown_tags = _unknown_tags(item, prefix + name)
            continue
        if name not in names:
            raise _Wrong(f"is no field of this version; it has {', '.join(names) or 'none'}", prefix + name)
        setattr(struct, names[name].field.name, _from(names[name].move, item, prefix + name))
    for step in layout.steps:
        if step.field.json not in value:
            raise _Wrong("is missing", prefix + step.field.json)
    return struct


def _unknown_tags(value: Any, path: str) -> list[tuple[int, bytes]]:
    if not isinstance(value, dict) or not all(name.isdecimal() for name in value):
        raise _Wrong("needs an object of tag numbers and base64", path)
    return [(int(tag), _unbase64(data, path)) for tag, data in value.items()]


def _unbase64(value: Any, path: str, altchars: bytes | None = None) -> bytes:
    try:
        return base64.b64decode(value, altchars=altchars, validate=True)
    except (ValueError, TypeError):
        raise _Wrong(f"is no base64: {value!r}", path) from None


def _from(move: Move, value: Any, path: str) -> Any:
    if value is None:
        if isinstance(move, Fixed) or not move.nullable:
            raise _Wrong("is null, and may not be", path)
        return None
    if isinstance(move, Many):
        if not isinstance(value, list):
            raise _Wrong(f"needs a JSON array, not {value!r}", path)
        return [_from(move.element, item, f"{path}[{i}]") for i, item in enumerate(value)]
    if isinstance(move, Nested):
        return _struct_from(move.plan, value, path)
    return _one_from(move, value, path)


def _one_from(move: Fixed | Varying, value: Any, path: str) -> Any:
    kind = move.primitive
    if kind is UUID:
        if not isinstance(value, str) or len(value) != UUID_TEXT:
            raise _Wrong(f"is no uuid: {value!r}", path)
        return _unbase64(value + "==", path, b"-_")
    if kind in (BYTES, RECORDS):
        return _unbase64(value, path)
    if kind is FLOAT64 and (isinstance(value, float | int) or value in ("NaN", "Infinity", "-Infinity")):
        return float(value)
    wanted = bool if kind is BOOL else str if isinstance(move, Varying) else int
    if type(value) is not wanted:
        raise _Wrong(f"is {value!r}, which is no {kind.name}", path)
    return value
