"""Refused elements: puts the refusals of elements that were taken out of a request into its answer.

Rules:
* A refusal stands in the array that answers the one from which its element was taken: after the elements that were
  served, or at its own place if brokers keep the order. If the struct around it failed as a whole, it is left out.
* If a client asks for an element twice, some APIs answer it once (`ONCE`), or join both answers in one place
  (`JOINED`). If they answer once, by partition, a topic without partitions is left out.
* A group that is asked about twice has two answers: the first answers the first question.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from functools import cache
from itertools import islice
from operator import attrgetter
from typing import Any, NamedTuple

from proxy.protocol import api
from proxy.protocol.api import Api
from proxy.protocol.fiber import turn, turns
from proxy.protocol.mirror import identity
from proxy.protocol.refuse import Refusal
from proxy.protocol.schema import Field, Response, Struct, StructType
from proxy.protocol.walk import StructChain
from proxy.protocol.wire import Meaning

ONCE = frozenset(
    {
        api.ADD_PARTITIONS_TO_TXN,
        api.CREATE_PARTITIONS,
        api.DELETE_GROUPS,
        api.DELETE_RECORDS,
        api.DELETE_TOPICS,
        api.DESCRIBE_TOPIC_PARTITIONS,
        api.METADATA,
        api.PRODUCE,
    }
)
JOINED = frozenset({api.ALTER_SHARE_GROUP_OFFSETS, api.OFFSET_COMMIT, api.OFFSET_DELETE, api.TXN_OFFSET_COMMIT})


class RefusedElement(NamedTuple):
    """An element that was taken out: where it stood, and its error. `ordered`: brokers keep the order of the array."""

    path: tuple[str, ...]
    chain: StructChain
    place: int  # its index in the array
    error: int
    message: str | None
    repeated: bool = False  # answered as often as it is asked
    ordered: bool = False


class RefusalWriter:
    """Puts refusals into one answer."""

    def __init__(self, api: Api, version: int, response: Response) -> None:
        self.api, self.version, self.response = api, version, response
        self._answers: dict[tuple[int, str], dict[int, Any]] = {}  # for each array: its elements, by what they answer
        self._said: dict[tuple[Any, ...], Any] = {}
        self._ordered: dict[int, tuple[list[Any], list[tuple[int, Any]]]] = {}  # where brokers keep the order

    def place(self, some: Iterable[RefusedElement]) -> None:
        """Place all of them. Raises ValueError if the answer has no place for one."""
        if failed(self.response):
            return
        for refused in turns(sorted(some, key=attrgetter("place"))):
            home = self._home(refused)
            if home is not None:
                self._put(refused, *home)
        for answered, ordered in self._ordered.values():
            answered[:] = _merged(answered, ordered)

    def join(self) -> None:
        """In an answer that is all refusals, join elements that occur twice: into one, or in one place."""
        for field in self.response.fields:
            if field.mirrors:
                elements, joined = getattr(self.response, field.name), list[Any]()
                for element in turns(elements):
                    self._join(joined, element, (id(self.response),))
                setattr(self.response, field.name, joined)

    def _put(self, refused: RefusedElement, holder: Any, field: Field) -> None:
        refusal = Refusal(self.api, self.version, refused.error, refused.message)
        element = refusal.of(field.kind, refused.chain)  # type: ignore[arg-type]
        answered = getattr(holder, field.name)
        if (self.api in ONCE or self.api in JOINED) and not refused.repeated:
            self._join(answered, element, (id(holder),))
        elif refused.ordered:
            self._ordered.setdefault(id(answered), (answered, []))[1].append((refused.place, element))
        else:
            answered.append(element)

    def _join(self, answered: list[Any], element: Any, around: tuple[Any, ...]) -> None:
        """Add this element to the list, or to an element there that answers the same."""
        turn()
        key = (*around, *_scalars(element))
        if self.api in ONCE and _is_empty(element):
            return
        arrays = [(field.name, getattr(element, field.name)) for field in element.fields if field.is_array]
        said = self._said.get(key)
        if said is None:
            said = self._said[key] = element
            answered.append(element)
            for name, children in arrays:
                setattr(element, name, children and [])
        for name, children in arrays:
            for child in children or ():
                if self.api in ONCE:
                    self._join(getattr(said, name), child, key)
                else:
                    turn()
                    getattr(said, name).append(child)

    def _home(self, refused: RefusedElement) -> tuple[Any, Field] | None:
        """The struct and its array in which a refusal stands; None if a struct around it failed as a whole."""
        holder: Struct = self.response
        for depth, name in enumerate(refused.path, 1):
            field = mirror(type(holder), name, self.version)
            if field is None:
                about = ".".join(refused.path)
                raise ValueError(f"{type(self.response).__name__} has no place for a refusal about {about}")
            if depth == len(refused.path):
                return holder, field
            holder = self._answer(holder, field, refused.chain[: depth + 1], name)
            if holder is None or failed(holder):
                return None
        return None

    def _answer(self, holder: Any, field: Field, chain: StructChain, name: str) -> Any:
        """The element of the answer for the element at the end of the chain."""
        key = id(holder), field.name
        pairs = self._answers.get(key)
        if pairs is None:
            pairs = self._answers[key] = self._paired(getattr(holder, field.name), field, chain, name)
        return pairs.get(id(chain[-1]))

    def _paired(self, answered: list[Any], field: Field, chain: StructChain, name: str) -> dict[int, Any]:
        """The answers to the elements of an array, found by the values that they repeat."""
        inner = [one for one in field.kind.fields if one.present(self.version)]  # type: ignore[union-attr]
        found: dict[tuple[Any, ...], deque[Any]] = {}
        named = [one for one in inner if identity(one, self.version, chain) is not None]
        for child in turns(answered):
            found.setdefault(tuple(getattr(child, one.name) for one in named), deque()).append(child)
        pairs = {}
        for element in turns(getattr(chain[-2], name)):
            said = (identity(one, self.version, (*chain[:-1], element)) for one in named)
            answers = found.get(tuple(each.value for each in said if each is not None))
            if answers:
                pairs[id(element)] = answers.popleft()
        return pairs


@cache
def mirror(cls: type[Struct], name: str, version: int) -> Field | None:
    """The field of an answer that answers the array `name` of the request."""
    return next((field for field in cls.fields if name in field.mirrors and field.present(version)), None)


def failed(struct: Struct) -> bool:
    """Does the struct have an error for the whole of it?"""
    return any(getattr(struct, name) for name in _errors(type(struct)))


@cache
def _errors(cls: type[Struct]) -> tuple[str, ...]:
    return tuple(field.name for field in cls.fields if field.meaning is Meaning.ERROR)


def _merged(answered: list[Any], ordered: list[tuple[int, Any]]) -> list[Any]:
    """The answered elements, with others inserted at their places, in ascending order; at the end if too few."""
    merged: list[Any] = []
    served = iter(answered)
    for place, element in turns(ordered):
        merged += islice(served, max(place - len(merged), 0))
        merged.append(element)
    return [*merged, *served]


def _is_empty(struct: Struct) -> bool:
    """Does the struct answer partitions, although none was asked about?"""
    answering = _answering(type(struct))
    return bool(answering) and not any(getattr(struct, name) for name in answering)


@cache
def _answering(cls: type[Struct]) -> tuple[str, ...]:
    return tuple(field.name for field in cls.fields if field.mirrors)


def _scalars(struct: Struct) -> tuple[Any, ...]:
    """The values of a struct's own fields, without arrays and structs."""
    return tuple([getattr(struct, name) for name in _own(type(struct))])


@cache
def _own(cls: type[Struct]) -> tuple[str, ...]:
    return tuple(it.name for it in cls.fields if not it.is_array and not isinstance(it.kind, StructType))
