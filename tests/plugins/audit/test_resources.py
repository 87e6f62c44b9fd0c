"""Resources: found by their meanings, in every API and version."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from plugins.audit.found import MOST_TEXT
from plugins.audit.resources import Subjects
from plugins.audit.shapes import shape, wanted_fields
from proxy.plugin import (
    CREATE_ACLS,
    CREATE_TOPICS,
    DELETE_TOPICS,
    DESCRIBE_CONFIGS,
    FIND_COORDINATOR,
    HEARTBEAT,
    JOIN_GROUP,
    OFFSET_COMMIT,
    TXN_OFFSET_COMMIT,
    AlterUserScramCredentialsRequest,
    Api,
    CreateAclsRequest,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DescribeConfigsRequest,
    FindCoordinatorRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    Meaning,
    Message,
    MetadataRequest,
    OffsetCommitRequest,
    OffsetCommitResponse,
    Struct,
    TxnOffsetCommitRequest,
)
from proxy.protocol.schema import StructType
from proxy.protocol.wire import BYTES, STRING
from tests.plugins.audit.declared import undeclared
from tests.proxy.protocol.generate import EVERY, make

STAMP = {"kind": "request", "schema": 1, "time": "", "instance": "a", "worker": 0, "sequence": 1}
PLANTED = "planted-secret"


def read(api: Api, version: int, *messages: Message) -> list[dict[str, Any]]:
    subjects = Subjects(api, version)
    for message in messages:
        subjects.read(message)
    found: list[dict[str, Any]] = [dict(resource) for resource in subjects.resources({}.get)]
    for resource in found:
        resource.pop("operation", None)  # `test_operations.py` has it
    return found


@pytest.mark.parametrize("seed", range(3))
def test_every_message_is_read_and_tells_no_secret_and_no_payload(seed: int) -> None:
    dice = random.Random(seed)
    for cls, version in EVERY:
        message = make(cls, version, dice)
        plant(message)
        subjects = Subjects(cls.api, version)
        subjects.read(message)
        told = {"resources": subjects.resources({}.get), "errors": list(subjects.errors or ())}
        assert not undeclared(STAMP | told), cls
        assert PLANTED not in json.dumps(told), cls


def plant(struct: Struct) -> None:
    """Every secret, and every text and bytes that nothing says the meaning of."""
    for field in struct.fields:
        value = getattr(struct, field.name)
        if isinstance(field.kind, StructType):
            for inner in value if isinstance(value, list) else [value]:
                if inner is not None:
                    plant(inner)
        elif field.meaning in (None, Meaning.SECRET, Meaning.RECORDS, Meaning.ERROR_MESSAGE) and not field.is_array:
            if field.kind is STRING:
                setattr(struct, field.name, PLANTED)
            elif field.kind is BYTES or field.meaning is Meaning.RECORDS:
                setattr(struct, field.name, PLANTED.encode())


def test_what_is_read_leads_to_all_that_is_looked_for() -> None:
    for cls, version in EVERY:
        at = shape(cls, version)
        named = [*(name for name, _ in at.named), *(name for name, _ in at.lists), *(name for name, _, _ in at.below)]
        found = {*named, at.topic, at.topic_id, at.partition, at.error, at.records, *at.topic_lists} - {None}
        assert found <= wanted_fields(cls), cls


def test_partitions_are_named_with_their_topics_and_the_group_too() -> None:
    partition = OffsetCommitRequest.Topic.Partition(partition_index=2, committed_offset=9, committed_metadata=PLANTED)
    topic = OffsetCommitRequest.Topic(name="orders", partitions=[partition])
    refused = OffsetCommitResponse.Topic.Partition(partition_index=2, error_code=25)
    answer = OffsetCommitResponse(topics=[OffsetCommitResponse.Topic(name="orders", partitions=[refused])])
    assert read(OFFSET_COMMIT, 8, OffsetCommitRequest(group_id="g", topics=[topic]), answer) == [
        {"type": "group", "name": "g"},
        {"type": "topic", "name": "orders", "partition": 2, "error": "UNKNOWN_MEMBER_ID"},
    ]


def test_several_kinds_of_resources_stand_side_by_side() -> None:
    request = TxnOffsetCommitRequest(transactional_id="t", group_id="g", producer_id=1, producer_epoch=1, topics=[])
    assert sorted(read(TXN_OFFSET_COMMIT, 3, request), key=lambda one: one["type"]) == [
        {"type": "group", "name": "g"},
        {"type": "transactional_id", "name": "t"},
    ]


@pytest.mark.parametrize(
    ("kind", "text"), [(2, "topic"), (3, "group"), (4, "cluster"), (5, "transactional_id"), (9, "type 9")]
)
def test_the_type_of_a_resource_is_the_one_beside_it(kind: int, text: str) -> None:
    creation = CreateAclsRequest.Creation(
        resource_type=kind, resource_name="x", principal="User:a", host="*", operation=3, permission_type=3
    )
    assert read(CREATE_ACLS, 3, CreateAclsRequest(creations=[creation])) == [{"type": text, "name": "x"}]


def test_configs_and_coordinators_have_types_of_their_own() -> None:
    resource = DescribeConfigsRequest.Resource(resource_type=4, resource_name="1", configuration_keys=None)
    request = DescribeConfigsRequest(resources=[resource])
    assert read(DESCRIBE_CONFIGS, 4, request) == [{"type": "broker", "name": "1"}]
    keys = FindCoordinatorRequest(key_type=1, coordinator_keys=["a", "b"])
    assert read(FIND_COORDINATOR, 4, keys) == [
        {"type": "transactional_id", "name": "a"},
        {"type": "transactional_id", "name": "b"},
    ]


def test_users_and_lists_of_names_are_found() -> None:
    deletion = AlterUserScramCredentialsRequest.Deletion(name="alice", mechanism=1)
    request = AlterUserScramCredentialsRequest(deletions=[deletion], upsertions=[])
    assert read(request.api, 0, request) == [{"type": "user", "name": "alice"}]
    topics = DeleteTopicsRequest(topic_names=["a", "b"], timeout_ms=1)
    assert [one["name"] for one in read(topics.api, 5, topics)] == ["a", "b"]


def test_an_answer_adds_its_errors_to_what_the_request_named() -> None:
    topic = CreateTopicsRequest.Topic(name="orders", num_partitions=1, replication_factor=1, assignments=[], configs=[])
    made = CreateTopicsResponse.Topic(name="orders", topic_id=bytes(range(16)), error_code=36, error_message=PLANTED)
    request = CreateTopicsRequest(topics=[topic], timeout_ms=1)
    found = read(CREATE_TOPICS, 7, request, CreateTopicsResponse(topics=[made]))
    assert found == [{"type": "topic", "name": "orders", "error": "TOPIC_ALREADY_EXISTS"}]


def test_an_error_at_the_top_is_that_of_all() -> None:
    answer = JoinGroupResponse(error_code=30, generation_id=-1, protocol_name="", leader="", member_id="", members=[])
    subjects = Subjects(JOIN_GROUP, 5)
    request = JoinGroupRequest(group_id="g", session_timeout_ms=1, member_id="", protocol_type="consumer", protocols=[])
    subjects.read(request)
    subjects.read(answer)
    assert subjects.resources({}.get) == [
        {"type": "group", "name": "g", "error": "GROUP_AUTHORIZATION_FAILED", "operation": "Read"}
    ]
    assert list(subjects.errors or ()) == ["GROUP_AUTHORIZATION_FAILED"]


def test_names_of_more_text_than_is_kept_are_counted_and_the_others_kept() -> None:
    names = ["a", "b" * MOST_TEXT, "c"]
    request = DeleteTopicsRequest(topic_names=names, timeout_ms=1)
    subjects = Subjects(DELETE_TOPICS, 5)
    subjects.read(request)
    assert [resource["name"] for resource in subjects.resources({}.get)] == ["a", "c"]
    assert subjects.left_out == 1


def test_long_names_count_by_their_length_until_the_answer_comes_and_in_the_queue() -> None:
    def of(group: str) -> Subjects:
        subjects = Subjects(HEARTBEAT, 4)
        subjects.read(HeartbeatRequest(group_id=group, generation_id=1, member_id="m"))
        return subjects

    short, long = of("g"), of("g" * 32_000)
    assert short.weight == 2
    assert long.weight - short.weight == 80
    assert long.held - short.held == 31_999


class CountingRules:
    """Counts what it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def place(self, *right: object) -> None:
        self.asked += 1


def test_what_is_said_of_one_resource_takes_no_look_at_all_others() -> None:
    subjects, rules = Subjects(MetadataRequest.api, 9), CountingRules()
    subjects.read(MetadataRequest(topics=[MetadataRequest.Topic(name=f"t-{number}") for number in range(100)]))
    keys = [key for key, _, _ in subjects.moved({}.get)]
    heads = [subjects.head(key, {}.get, rules) for key in keys]  # type: ignore[arg-type]
    assert [head["name"] for head in heads] == [f"t-{number}" for number in range(100)]
    assert rules.asked == 100
