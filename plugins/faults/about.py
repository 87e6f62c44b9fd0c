"""About: what a request or an answer is about, thing by thing, as rules match it.

# A request is about the things that its answer tells of one by one (`mirrors`): what it lists besides, as the topics
# that a member subscribes to, has no answer of its own.
# A request that lists nothing where it could, and so means all (Metadata of all topics), is open: what it is about
# shows in its answer.
# What the request says for all of it, its group or transactional id, holds of each thing in the answer too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

from proxy.plugin import Meaning, Request, Struct
from proxy.plugin.schema import NO_UUID, Array, Chain, Element, Field, StructType, arrays, errors, level
from rules.match import Subject

ATTRIBUTES: dict[Meaning | None, str] = {
    Meaning.TOPIC_NAME: "topic",
    Meaning.PARTITION: "partition",
    Meaning.GROUP_ID: "group",
    Meaning.TRANSACTIONAL_ID: "transactional_id",
}
COORDINATED = ("group", "transactional_id")  # by the key type of FindCoordinator

RECORDS_LEVEL = "partition"  # records stand in partitions

TopicName = Callable[[bytes], str | None]


class Thing(NamedTuple):
    """One thing that a request is about, and which element of which array it is (None: the request itself)."""

    subject: Subject
    array: Array | None = None  # its path begins at the request
    position: int = 0
    is_open: bool = False


def of_request(request: Request, version: int, name_of: TopicName) -> Iterator[Thing]:
    """All that a request is about."""
    whole = Thing(subject(request, version, name_of))
    return _things(request.api.response, version, (request,), whole, name_of)


def subject(request: Request, version: int, name_of: TopicName) -> Subject:
    """What a request says for all of it."""
    return _with(Subject(), request, version, name_of, getattr(request, "key_type", 0))


def _things(cls: Any, version: int, chain: Chain, thing: Thing, name_of: TopicName) -> Iterator[Thing]:
    """The things in what `thing` stands for, which a `cls` in the answer answers."""
    mirrors = [field for field in cls.fields if field.mirrors and field.present(version)]
    listed = [(field, array) for field in mirrors for path in field.mirrors for array in arrays(path, version, *chain)]
    above = thing.array.path if thing.array is not None else ()
    inside = False
    for field, array in listed:
        whole = array._replace(path=(*above, *array.path))
        for index, element in enumerate(array.elements):
            inside = True
            link = array.link(element)
            inner = _with(thing.subject, link[-1], version, name_of, getattr(chain[0], "key_type", 0))
            yield from _things(field.kind, version, link, Thing(inner, whole, index), name_of)
    if not inside:
        yield thing._replace(is_open=bool(mirrors) and not listed)


def at_level(response: Struct, version: int, name: str, around: Subject, name_of: TopicName) -> Iterator[Any]:
    """Each struct of an answer that carries errors at this level, with what it is about.

    `around`: what the request said for all of it.
    """
    here = _with(around, response, version, name_of, 0)
    if level(type(response)) == name and errors(type(response), version):
        yield response, here
    for field in response.fields:
        if isinstance(field.kind, StructType) and field.is_array and field.present(version):
            for element in getattr(response, field.name) or ():
                yield from at_level(element, version, name, here, name_of)


def _with(around: Subject, said: Any, version: int, name_of: TopicName, key_type: int) -> Subject:
    """What a struct or an element says beside what was said around it."""
    fields = [(said.field, said.value)] if isinstance(said, Element) else _values(said, version)
    more: dict[str, Any] = {}
    for field, value in fields:
        if value is None:
            continue
        if field.meaning is Meaning.TOPIC_ID:
            if value != NO_UUID and (name := name_of(value)) is not None:
                more.setdefault("topic", name)
        elif field.meaning is Meaning.COORDINATOR_KEY:
            if 0 <= key_type < len(COORDINATED):
                more[COORDINATED[key_type]] = value
        elif field.meaning in ATTRIBUTES and (value or field.meaning is not Meaning.TOPIC_NAME):
            more[ATTRIBUTES[field.meaning]] = value
    return around._replace(**more) if more else around


def _values(struct: Struct, version: int) -> list[tuple[Field, Any]]:
    return [(field, getattr(struct, field.name)) for field in _telling(type(struct), version)]


@cache
def _telling(cls: type[Struct], version: int) -> tuple[Field, ...]:
    """The fields of a struct that say what it is about."""
    meanings = {*ATTRIBUTES, Meaning.TOPIC_ID, Meaning.COORDINATOR_KEY}
    return tuple(it for it in cls.fields if it.meaning in meanings and not it.is_array and it.present(version))
