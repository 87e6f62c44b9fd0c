"""About: the things that a request or an answer is about (topics, partitions, groups), as rules match them.

Rules:
* A request is about the elements that its answer answers one by one (`mirrors`). Other lists, as the topics that a
  member subscribes to, have no answer of their own.
* A request that has no list where it could have one means all (Metadata of all topics), and some mean all by an empty
  list. They are open: only the answer shows what they are about. A request that continues a share session is about the
  topics that it names, and open for the others of its session.
* A group or transactional id of the request as a whole holds for each thing in the answer too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

from proxy.plugin import (
    Api,
    DescribeTopicPartitionsRequest,
    Meaning,
    MetadataRequest,
    Request,
    ShareFetchRequest,
    Struct,
    turn,
)
from proxy.plugin.schema import NO_UUID, Array, Element, Field, StructChain, StructType, arrays, errors, level, paths
from rules.match import Match, Subject

TELLING = frozenset(
    {
        Meaning.COORDINATOR_KEY,
        Meaning.GROUP_ID,
        Meaning.PARTITION,
        Meaning.TOPIC_ID,
        Meaning.TOPIC_NAME,
        Meaning.TRANSACTIONAL_ID,
    }
)
COORDINATED = {0: Meaning.GROUP_ID, 1: Meaning.TRANSACTIONAL_ID}  # by the key type of FindCoordinator
RECORDS_LEVEL = "partition"  # records stand in partitions

NameOf = Callable[[bytes], str | None]


OPTIONS = {  # of rules, with the meanings of the fields that they are compared with
    "topic": {Meaning.TOPIC_NAME, Meaning.TOPIC_ID},
    "partition": {Meaning.PARTITION},
    "group": {Meaning.GROUP_ID, Meaning.COORDINATOR_KEY},
    "transactional_id": {Meaning.TRANSACTIONAL_ID, Meaning.COORDINATOR_KEY},
}


@cache
def tells(api: Api) -> frozenset[str]:
    """The options of rules that can be compared with requests of this API, or with their answers."""
    sides = api.request, api.response
    return frozenset(option for option, meanings in OPTIONS.items() if any(paths(side, *meanings) for side in sides))


class Thing(NamedTuple):
    """One thing that a request is about: an element of an array, or the request itself (None)."""

    subject: Subject
    array: Array | None = None  # its path begins at the request
    position: int = 0
    above: Thing | None = None  # the thing that contains it, unless that is the request
    is_open: bool = False


def of_request(request: Request, version: int, name_of: NameOf) -> Iterator[Thing]:
    """All things that a request is about."""
    whole = Thing(subject(request, version, name_of))
    if isinstance(request, ShareFetchRequest) and request.share_session_epoch > 0:
        yield whole._replace(is_open=True)
        if not request.topics:
            return
    yield from _things(request.api.response, version, (request,), whole, name_of)


def subject(request: Request, version: int, name_of: NameOf) -> Subject:
    """The properties of a request as a whole."""
    return _with(Subject(), request, version, name_of, request)


def _things(cls: Any, version: int, chain: StructChain, thing: Thing, name_of: NameOf) -> Iterator[Thing]:
    """The things inside of `thing`, which is answered by a struct `cls` of the answer."""
    mirrors = _mirrors(cls, version)
    listed = [(field, array) for field in mirrors for path in field.mirrors for array in arrays(path, version, *chain)]
    above, path_above = (thing, thing.array.path) if thing.array is not None else (None, ())
    inside = False
    for field, array in listed:
        whole = Array(array.chain, array.field, (*path_above, *array.path))
        for position, element in enumerate(array.elements):
            inside = True
            link = array.link(element)
            inner = Thing(_with(thing.subject, link[-1], version, name_of, chain[0]), whole, position, above)
            if _mirrors(field.kind, version):
                yield from _things(field.kind, version, link, inner, name_of)
            else:
                yield inner
    if not inside:
        is_all = not listed or (thing.array is None and _means_all(chain[0], version))
        yield thing._replace(is_open=bool(mirrors) and is_all)


def _means_all(request: object, version: int) -> bool:
    """Whether an empty list of topics in this request means all topics."""
    is_oldest = isinstance(request, MetadataRequest) and version == 0
    return is_oldest or isinstance(request, DescribeTopicPartitionsRequest)


@cache
def _mirrors(cls: type[Any], version: int) -> tuple[Field, ...]:
    """The arrays of an answer, or of a struct in it, that answer the request element by element."""
    fields = cls.fields if isinstance(cls, StructType) else ()
    return tuple(field for field in fields if field.mirrors and field.present(version))


def at_level(response: Struct, version: int, name: str, around: Subject, name_of: NameOf) -> Iterator[Any]:
    """Each struct of an answer that carries errors at this level, with its subject.

    `around`: the properties of the request as a whole.
    """
    for struct, about in _structs(response, version, around, name_of):
        if level(type(struct)) == name and errors(type(struct), version):
            yield struct, about


def shows(response: Struct, version: int, match: Match, around: Subject, name_of: NameOf) -> bool:
    """Whether an answer names something that matches. A topic by an id without a known name may match."""
    for struct, about in _structs(response, version, around, name_of):
        has_id = about.topic is None and any(
            meaning is Meaning.TOPIC_ID and value != NO_UUID for meaning, value in _values(struct, version)
        )
        if match.of_subject(about, is_part=has_id):
            return True
    return False


def _structs(response: Struct, version: int, around: Subject, name_of: NameOf) -> Iterator[tuple[Struct, Subject]]:
    """Each struct of an answer, with its subject."""
    here = _with(around, response, version, name_of, None)
    yield response, here
    for field in response.fields:
        if isinstance(field.kind, StructType) and field.is_array and field.present(version):
            for element in getattr(response, field.name) or ():
                yield from _structs(element, version, here, name_of)


def _with(around: Subject, said: Any, version: int, name_of: NameOf, request: object) -> Subject:
    """The subject of a struct or an element inside of `around`. `request` has the type of coordinator keys."""
    turn()
    fields = [(said.field.meaning, said.value)] if isinstance(said, Element) else _values(said, version)
    topic, partition, group, transactional_id = around
    for meaning, value in fields:
        if meaning is Meaning.COORDINATOR_KEY:
            meaning = COORDINATED.get(getattr(request, "key_type", 0))
        match meaning:
            case Meaning.PARTITION:
                partition = value
            case Meaning.TOPIC_NAME:
                topic = value or topic
            case Meaning.TOPIC_ID:
                topic = topic if value == NO_UUID else name_of(value) or topic
            case Meaning.GROUP_ID:
                group = value if value is not None else group
            case Meaning.TRANSACTIONAL_ID:
                transactional_id = value if value is not None else transactional_id
    return Subject(topic, partition, group, transactional_id)


def _values(struct: Struct, version: int) -> list[tuple[Meaning | None, Any]]:
    return [(meaning, getattr(struct, name)) for meaning, name in _telling(type(struct), version)]


@cache
def _telling(cls: type[Struct], version: int) -> tuple[tuple[Meaning | None, str], ...]:
    """The fields of a struct that name topics, partitions, groups and transactional ids."""
    fields = (field for field in cls.fields if field.meaning in TELLING and not field.is_array)
    return tuple((field.meaning, field.name) for field in fields if field.present(version))
