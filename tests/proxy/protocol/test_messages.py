"""The declarations of all messages: each has a docstring, and each mirror names an array of its request."""

from collections.abc import Iterator
from typing import Any

import pytest

from proxy.protocol import messages  # noqa: F401  # makes every message known
from proxy.protocol.api import APIS, Api
from proxy.protocol.schema import Field, Struct, structs
from proxy.protocol.wire import Meaning, Primitive

ALL = pytest.mark.parametrize("api", APIS.values(), ids=repr)
Element = Primitive | type[Struct]


def path(owner: type[Struct], names: str, version: int) -> list[Field] | None:
    """The request's arrays of a dotted path, or None where this version has not got them."""
    arrays = []
    for name in names.split("."):
        assert name in owner.field, f"{owner.__qualname__} has no {name!r}"
        array = owner.field[name]
        if not array.present(version):
            return None
        arrays.append(array)
        if isinstance(array.kind, type):
            owner = array.kind
    return arrays


def mirrored(api: Api, version: int) -> Iterator[tuple[Field, list[list[Field]]]]:
    """Each response array that mirrors something, and the arrays that it mirrors in this version."""
    todo: list[tuple[type[Struct], type[Struct]]] = [(api.response, api.request)]
    for response, request in todo:  # grows while we walk
        for field in response.fields:
            if not field.mirrors or not field.present(version):
                continue
            found = [arrays for names in field.mirrors if (arrays := path(request, names, version))]
            assert found, f"{response.__qualname__}.{field.name} v{version} has nothing to mirror"
            yield field, found
            for arrays in found:
                inner = arrays[-1].kind
                if isinstance(field.kind, type) and isinstance(inner, type):
                    todo.append((field.kind, inner))


def meanings(arrays: list[Field]) -> set[Any]:
    """What the elements of these arrays stand for, or the fields in them."""
    found = set()
    for array in arrays:
        found |= {field.meaning for field in array.kind.fields} if isinstance(array.kind, type) else {array.meaning}
    return found


@ALL
def test_every_struct_says_in_one_sentence_what_it_is(api: Api) -> None:
    for message in (api.request, api.response):
        for struct in structs(message):
            assert (struct.__doc__ or "").strip().endswith((".", "?")), struct.__qualname__
            assert "\n" not in (struct.__doc__ or ""), struct.__qualname__


@ALL
def test_every_mirror_has_an_array_to_mirror_in_every_version(api: Api) -> None:
    for version in api.versions:
        for response, requests in mirrored(api, version):
            assert response.is_array
            assert all(array.is_array for arrays in requests for array in arrays)


@ALL
def test_what_names_an_element_of_a_response_is_in_the_request(api: Api) -> None:
    naming = {Meaning.TOPIC_NAME, Meaning.PARTITION, Meaning.GROUP_ID, Meaning.TRANSACTIONAL_ID, Meaning.RESOURCE_NAME}
    for version in api.versions:
        for response, requests in mirrored(api, version):
            assert isinstance(response.kind, type)
            named = {field.meaning for field in response.kind.fields if field.present(version) and not field.is_array}
            assert all(named & naming <= meanings(arrays) for arrays in requests), response.name


@ALL
def test_a_mirror_inside_an_array_lies_inside_a_mirror(api: Api) -> None:
    for struct in structs(api.response):
        for field in struct.fields:
            if isinstance(field.kind, type) and any(inner.mirrors for inner in field.kind.fields):
                assert field.mirrors, f"{struct.__qualname__}.{field.name}"


@ALL
def test_a_partition_is_known_by_its_meaning_whatever_its_name(api: Api) -> None:
    names = {"partition", "partition_id", "partition_index", "partition_indexes"}
    for message in (api.request, api.response):
        for struct in structs(message):
            if "subtopology_id" in struct.field:
                continue  # Kafka Streams numbers its tasks, not the partitions of one topic
            for name in names & struct.field.keys():
                assert struct.field[name].meaning is Meaning.PARTITION, f"{struct.__qualname__}.{name}"
