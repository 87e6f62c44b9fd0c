"""Refusals: their errors, and the places of these."""

from typing import Any

import pytest

from proxy.protocol.api import (
    API_VERSIONS,
    APIS,
    DELETE_TOPICS,
    FETCH,
    FIND_COORDINATOR,
    JOIN_GROUP,
    METADATA,
    OFFSET_FETCH,
    PRODUCE,
    SHARE_FETCH,
    Api,
)
from proxy.protocol.codec import decode, encode
from proxy.protocol.errors import ErrorCode
from proxy.protocol.levels import levels
from proxy.protocol.messages.alter_client_quotas import AlterClientQuotasRequest
from proxy.protocol.messages.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from proxy.protocol.messages.api_versions import ApiVersionsRequest
from proxy.protocol.messages.delete_topics import DeleteTopicsRequest
from proxy.protocol.messages.fetch import FetchRequest
from proxy.protocol.messages.find_coordinator import FindCoordinatorRequest
from proxy.protocol.messages.join_group import JoinGroupRequest
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.messages.offset_fetch import OffsetFetchRequest
from proxy.protocol.messages.produce import ProduceRequest
from proxy.protocol.messages.share_fetch import ShareFetchRequest
from proxy.protocol.refusal_shapes import AT_BOTH, LEFT
from proxy.protocol.refuse import refuse, usual_level
from proxy.protocol.schema import Struct, blank, structs

DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
GROUP_DENIED = ErrorCode.GROUP_AUTHORIZATION_FAILED
FAILED = ErrorCode.UNKNOWN_SERVER_ERROR


def produce(*partitions: int, acks: int = -1) -> ProduceRequest:
    Topic = ProduceRequest.Topic  # noqa: N806
    data = [Topic.Partition(index=index, records=b"") for index in partitions]
    return ProduceRequest(acks=acks, timeout_ms=1, topic_data=[Topic(name="orders", partition_data=data)])


def fetch(*partitions: int) -> FetchRequest:
    Topic = FetchRequest.Topic  # noqa: N806
    asked = [Topic.Partition(partition=index, fetch_offset=7, partition_max_bytes=1) for index in partitions]
    topics = [Topic(topic="orders", topic_id=b"o" * 16, partitions=asked)] if asked else []
    return FetchRequest(max_wait_ms=1, min_bytes=1, session_id=5, session_epoch=2, topics=topics)


def answer(api: Api, version: int, request: Any, error: int, message: str | None = None) -> Any:
    """The refusal as a client reads it."""
    refusal = refuse(api, version, request, error, message)
    assert refusal is not None
    return decode(api.response, version, encode(refusal, version))


def test_every_partition_of_a_refused_produce_has_the_error() -> None:
    (topic,) = answer(PRODUCE, 9, produce(0, 3), DENIED).responses
    assert topic.name == "orders"
    assert [(each.index, each.error_code, each.base_offset) for each in topic.partition_responses] == [
        (0, DENIED, -1),
        (3, DENIED, -1),
    ]


def test_produce_without_acks_is_never_answered() -> None:
    assert refuse(PRODUCE, 9, produce(0, acks=0), DENIED) is None


def test_an_error_about_topics_stands_beside_the_partitions_of_a_fetch() -> None:
    response = answer(FETCH, 12, fetch(0, 1), DENIED)
    assert response.error_code == 0
    assert response.session_id == 0
    assert [each.error_code for each in response.responses[0].partitions] == [DENIED, DENIED]


def test_a_fetch_by_topic_id_is_refused_by_topic_id() -> None:
    (topic,) = answer(FETCH, 16, fetch(0), ErrorCode.NOT_LEADER_OR_FOLLOWER).responses
    assert (topic.topic_id, topic.partitions[0].error_code) == (b"o" * 16, ErrorCode.NOT_LEADER_OR_FOLLOWER)


def test_another_error_of_a_fetch_stands_at_the_top() -> None:
    response = answer(FETCH, 16, fetch(0), ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    assert (response.error_code, response.responses) == (ErrorCode.FETCH_SESSION_ID_NOT_FOUND, [])


def test_a_fetch_that_names_no_partition_is_refused_at_the_top() -> None:
    assert answer(FETCH, 16, fetch(), DENIED).error_code == DENIED


def test_a_fetch_from_before_sessions_has_only_the_partitions() -> None:
    response = answer(FETCH, 4, fetch(0), FAILED)
    assert response.responses[0].partitions[0].error_code == FAILED


def test_a_share_fetch_tells_of_topics_beside_them_and_of_the_group_at_the_top() -> None:
    Topic = ShareFetchRequest.Topic  # noqa: N806
    request = blank(ShareFetchRequest)
    request.topics = [
        Topic(topic_id=b"o" * 16, partitions=[Topic.Partition(partition_index=4, acknowledgement_batches=[])])
    ]
    about_topic = answer(SHARE_FETCH, 2, request, DENIED)
    assert about_topic.error_code == 0
    assert about_topic.responses[0].partitions[0].partition_index == 4
    about_group = answer(SHARE_FETCH, 2, request, GROUP_DENIED)
    assert (about_group.error_code, about_group.responses) == (GROUP_DENIED, [])


@pytest.mark.parametrize("version", range(8, 11))
def test_each_group_of_an_offset_fetch_is_refused_by_itself(version: int) -> None:
    Group = OffsetFetchRequest.Group  # noqa: N806
    request = OffsetFetchRequest(groups=[Group(group_id="a", topics=None), Group(group_id="b", topics=None)])
    groups = answer(OFFSET_FETCH, version, request, GROUP_DENIED).groups
    assert [(group.group_id, group.error_code, group.topics) for group in groups] == [
        ("a", GROUP_DENIED, []),
        ("b", GROUP_DENIED, []),
    ]


def test_a_metadata_answer_says_the_error_for_each_topic() -> None:
    Topic = MetadataRequest.Topic  # noqa: N806
    request = MetadataRequest(topics=[Topic(name="orders"), Topic(name="secrets")])
    assert [(topic.name, topic.error_code) for topic in answer(METADATA, 9, request, DENIED).topics] == [
        ("orders", DENIED),
        ("secrets", DENIED),
    ]


@pytest.mark.parametrize(("version", "name"), [(10, ""), (12, None)])
def test_a_topic_asked_for_by_id_has_no_name_in_the_answer(version: int, name: str | None) -> None:
    request = MetadataRequest(topics=[MetadataRequest.Topic(topic_id=b"o" * 16, name=None)])
    (topic,) = answer(METADATA, version, request, DENIED).topics
    assert (topic.topic_id, topic.name, topic.error_code) == (b"o" * 16, name, DENIED)


def test_a_coordinator_that_is_refused_has_no_address() -> None:
    old = answer(FIND_COORDINATOR, 3, FindCoordinatorRequest(key="group"), GROUP_DENIED)
    assert (old.error_code, old.node_id, old.host, old.port) == (GROUP_DENIED, -1, "", -1)
    (new,) = answer(FIND_COORDINATOR, 4, FindCoordinatorRequest(coordinator_keys=["group"]), GROUP_DENIED).coordinators
    assert (new.key, new.error_code, new.node_id, new.host, new.port) == ("group", GROUP_DENIED, -1, "", -1)


def test_names_and_ids_are_repeated_whichever_the_version_has() -> None:
    by_name = DeleteTopicsRequest(topic_names=["orders"], timeout_ms=1)
    assert answer(DELETE_TOPICS, 5, by_name, DENIED).responses[0].name == "orders"
    topics = [DeleteTopicsRequest.Topic(name=None, topic_id=b"o" * 16)]
    by_id = DeleteTopicsRequest(topics=topics, timeout_ms=1)
    (topic,) = answer(DELETE_TOPICS, 6, by_id, DENIED).responses
    assert (topic.name, topic.topic_id, topic.error_code) == (None, b"o" * 16, DENIED)


def test_a_user_with_two_changes_gets_one_answer() -> None:
    Request = AlterUserScramCredentialsRequest  # noqa: N806
    request = Request(
        deletions=[Request.Deletion(name="bob", mechanism=1)],
        upsertions=[Request.Upsertion(name="bob", mechanism=2, iterations=4096, salt=b"", salted_password=b"")],
    )
    results = answer(Request.api, 0, request, FAILED).results
    assert [result.user for result in results] == ["bob"]


def test_the_entity_of_a_quota_is_repeated_whole() -> None:
    Entry = AlterClientQuotasRequest.Entry  # noqa: N806
    entity = [Entry.Entity(entity_type="user", entity_name="bob"), Entry.Entity(entity_type="ip", entity_name=None)]
    request = AlterClientQuotasRequest(entries=[Entry(entity=entity, ops=[])], validate_only=False)
    (entry,) = answer(request.api, 1, request, FAILED).entries
    assert [(part.entity_type, part.entity_name) for part in entry.entity] == [("user", "bob"), ("ip", None)]


def test_the_message_stands_wherever_the_error_does() -> None:
    response = answer(PRODUCE, 9, produce(0), DENIED, "not here")
    assert response.responses[0].partition_responses[0].error_message == "not here"
    assert answer(PRODUCE, 9, produce(0), DENIED).responses[0].partition_responses[0].error_message is None


def test_an_unknown_version_of_api_versions_is_answered_with_the_known_ones() -> None:
    response = answer(API_VERSIONS, 0, ApiVersionsRequest(), ErrorCode.UNSUPPORTED_VERSION)
    assert response.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert [(each.api_key, each.min_version, each.max_version) for each in response.api_keys] == [
        (API_VERSIONS.key, 0, API_VERSIONS.newest)
    ]


def test_a_member_that_may_not_join_is_told_nothing_of_the_group() -> None:
    response = answer(JOIN_GROUP, 9, blank(JoinGroupRequest), GROUP_DENIED)
    assert (response.error_code, response.member_id, response.protocol_name) == (GROUP_DENIED, "", None)


@pytest.mark.parametrize("error", [FAILED, DENIED], ids=lambda error: error.name)
@pytest.mark.parametrize("api", APIS.values(), ids=repr)
def test_an_empty_request_can_be_refused_in_every_version(api: Api, error: ErrorCode) -> None:
    request = blank(api.request)
    if isinstance(request, ProduceRequest):
        request.acks = 1
    for version in api.versions:
        answer(api, version, request, error)


@pytest.mark.parametrize("error", [FAILED, DENIED, ErrorCode.KAFKA_STORAGE_ERROR], ids=lambda error: error.name)
@pytest.mark.parametrize("api", APIS.values(), ids=repr)
def test_the_usual_level_of_an_error_is_one_that_answers_have(api: Api, error: ErrorCode) -> None:
    for version in api.versions:
        known = levels(api.response, version)
        assert not known or usual_level(api, version, error) in known, f"v{version}"


@pytest.mark.parametrize("api", LEFT, ids=repr)
def test_what_kafka_leaves_is_left_in_fields_that_exist(api: Api) -> None:
    known = {name for struct in structs(api.response) for name in struct.field}
    assert LEFT[api].keys() <= known


@pytest.mark.parametrize("api", AT_BOTH, ids=repr)
def test_errors_at_both_places_have_both_places(api: Api) -> None:
    assert any(field.mirrors for field in api.response.fields)
    assert "error_code" in api.response.field
    assert AT_BOTH[api] in api.versions


def test_the_request_is_not_touched() -> None:
    request = fetch(0)
    before = encode(request, 12)
    refuse(FETCH, 12, request, DENIED)
    assert encode(request, 12) == before


def test_what_a_refusal_repeats_is_not_shared_with_other_refusals() -> None:
    first: Any = refuse(PRODUCE, 9, produce(0), DENIED)
    second: Any = refuse(PRODUCE, 9, produce(0), DENIED)
    first.responses[0].name = "changed"
    assert isinstance(second.responses[0], Struct)
    assert second.responses[0].name == "orders"
