"""The levels at which responses have errors."""

import pytest

from proxy.protocol.api import APIS, FETCH, FIND_COORDINATOR, LEAVE_GROUP, METADATA, OFFSET_FETCH, PRODUCE, Api
from proxy.protocol.levels import errors, level, levels
from proxy.protocol.messages.create_topics import CreateTopicsResponse


@pytest.mark.parametrize(
    ("api", "version", "found"),
    [
        (PRODUCE, 9, ("partition",)),
        (FETCH, 6, ("partition",)),
        (FETCH, 7, ("top", "partition")),
        (METADATA, 12, ("topic", "partition")),
        (METADATA, 13, ("top", "topic", "partition")),
        (OFFSET_FETCH, 1, ("partition",)),
        (OFFSET_FETCH, 8, ("group", "partition")),
        (FIND_COORDINATOR, 3, ("top",)),
        (FIND_COORDINATOR, 4, ("key",)),
        (LEAVE_GROUP, 3, ("top", "member")),
    ],
)
def test_the_levels_of_some_answers(api: Api, version: int, found: tuple[str, ...]) -> None:
    assert levels(api.response, version) == found


def test_every_answer_has_one() -> None:
    for api in APIS.values():
        assert all(levels(api.response, version) for version in api.versions), api


def test_a_tagged_error_makes_no_level() -> None:
    topic = CreateTopicsResponse.Topic
    assert level(topic) == "topic"
    assert [field.name for field in errors(topic, 5)] == ["error_code"]
