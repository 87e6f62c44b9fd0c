"""Which element of a request an element of its response answers, and what the one repeats of the other.

Rules:
* A response field with `mirrors` answers the request's array of that name element by element: the array beside the
  struct that the field around it answers, or at the top of the request.
* An answer repeats what identifies the question (topic, partition, group, ...), under the same name or with the same
  meaning, and nothing else that was asked: a `timestamp` in the answer is not the one that was looked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from proxy.protocol.schema import Field, Struct
from proxy.protocol.wire import Meaning

TOPIC = frozenset({Meaning.TOPIC_NAME, Meaning.TOPIC_ID, Meaning.PARTITION})
IDENTITY = TOPIC | {
    Meaning.COORDINATOR_KEY,
    Meaning.GROUP_ID,
    Meaning.PRODUCER_ID,
    Meaning.RESOURCE_NAME,
    Meaning.TRANSACTIONAL_ID,
    Meaning.USER,
}
# What identifies without having a meaning of its own: the entity of a quota, a feature, a directory, a resource's type.
IDENTITY_NAMES = frozenset({"entity_name", "entity_type", "feature", "id", "resource_type"})


class Asked(NamedTuple):
    """One value that was asked: an element that is no struct (a topic name, a group id), or a field's."""

    field: Field
    value: Any


Chain = tuple[Any, ...]  # the request, the structs in it, and last what is answered: a Struct or an Asked


def mirrored(field: Field, version: int, chain: Chain) -> Iterator[Chain]:
    """The chain down to each of the elements that `field` answers, where the struct around it answers `chain`."""
    for path in field.mirrors:
        yield from _down(path.split("."), version, chain)


def _down(path: list[str], version: int, chain: Chain) -> Iterator[Chain]:
    name, *rest = path
    field = chain[-1].field[name]
    if not field.present(version):
        return
    for element in getattr(chain[-1], name) or ():
        longer = (*chain, element if isinstance(element, Struct) else Asked(field, element))
        if rest:
            yield from _down(rest, version, longer)
        else:
            yield longer


def identity(field: Field, version: int, chain: Chain) -> Asked | None:
    """What `field` of an answer to `chain` repeats of it; None where it does not identify."""
    if field.is_array or not (field.meaning in IDENTITY or field.name in IDENTITY_NAMES):
        return None
    for asked in reversed(chain[1:]):  # the request itself identifies no element
        found = _counterpart(field, version, asked)
        if found is not None:
            return found
    return None


def _counterpart(field: Field, version: int, asked: Struct | Asked) -> Asked | None:
    if isinstance(asked, Asked):
        return asked if asked.field.meaning is field.meaning else None
    others = [other for other in asked.fields if other.present(version) and not other.is_array]
    same = next((other for other in others if other.name == field.name), None)
    if same is None and field.meaning is not None:
        same = next((other for other in others if other.meaning is field.meaning), None)
    return Asked(same, getattr(asked, same.name)) if same is not None else None
