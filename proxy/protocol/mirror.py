"""Mirroring: which element of a request each element of a response answers, and which of its values it repeats.

Rules:
* A response field with `mirrors` answers the request's array of that name element by element. The array is in the
  struct that the struct around the field answers, or at the top of the request.
* An answer repeats the values that identify the question (topic, partition, group, ...), under the same name or with
  the same meaning, and no others: a `timestamp` in the answer is not the one in the request.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from proxy.protocol.fiber import turns
from proxy.protocol.structs import Field, Struct
from proxy.protocol.walk import Element, StructChain, arrays
from proxy.protocol.wire import Meaning

TOPIC = frozenset({Meaning.TOPIC_NAME, Meaning.TOPIC_ID, Meaning.PARTITION})
IDENTITY = TOPIC | {
    Meaning.COORDINATOR_KEY,
    Meaning.GROUP_ID,
    Meaning.MEMBER_ID,
    Meaning.PRODUCER_ID,
    Meaning.RESOURCE_NAME,
    Meaning.TRANSACTIONAL_ID,
    Meaning.USER,
}
# Fields that identify, but have no meaning of their own: the entity of a quota, a feature, a directory, a resource
# type.
IDENTITY_NAMES = frozenset({"entity_name", "entity_type", "feature", "id", "resource_type"})


def mirrored(field: Field, version: int, chain: StructChain) -> list[StructChain]:
    """The chain down to each of the elements that `field` answers, if the struct around it answers `chain`."""
    found = (array for path in field.mirrors for array in arrays(path, version, *chain))
    return [array.link(element) for array in found for element in turns(array.elements)]


class Counterpart(NamedTuple):
    """The place of a value in a chain: the link, and its field (None: the link is the value)."""

    link: int
    name: str | None

    def of(self, chain: StructChain) -> Any:
        """The value."""
        asked = chain[self.link]
        return asked.value if self.name is None else getattr(asked, self.name)


def identity(field: Field, version: int, chain: StructChain) -> Element | None:
    """The value of `chain` that `field` of the answer to it repeats; None if the field does not identify."""
    kinds = tuple(asked.field if isinstance(asked, Element) else type(asked) for asked in chain[1:])
    place = counterpart(field, version, kinds)
    if place is None:
        return None
    asked = chain[place.link]
    return asked if place.name is None else Element(asked.field[place.name], place.of(chain))


@cache
def counterpart(field: Field, version: int, kinds: tuple[type[Struct] | Field, ...]) -> Counterpart | None:
    """The place of the value that `field` repeats, in a chain of a request and these; None if it does not identify."""
    if field.is_array or not (field.meaning in IDENTITY or field.name in IDENTITY_NAMES):
        return None
    for link in range(len(kinds), 0, -1):  # the request itself identifies no element
        kind = kinds[link - 1]
        if isinstance(kind, Field):
            if kind.meaning is field.meaning:
                return Counterpart(link, None)
            continue
        others = [other for other in kind.fields if other.present(version) and not other.is_array]
        same = next((other for other in others if other.name == field.name), None)
        if same is None and field.meaning is not None:
            same = next((other for other in others if other.meaning is field.meaning), None)
        if same is not None:
            return Counterpart(link, same.name)
    return None
