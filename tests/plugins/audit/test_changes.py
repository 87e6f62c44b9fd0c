"""Changes made by administrators' requests, in every API that changes something."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from plugins.audit.change_readers import ANSWERS, READERS
from plugins.audit.changes import CHANGING, MOST, MOST_TEXT, changing_fields
from plugins.audit.resources import Subjects
from plugins.audit.shapes import wanted_fields
from proxy.plugin import (
    ALTER_CLIENT_QUOTAS,
    ALTER_USER_SCRAM_CREDENTIALS,
    CREATE_ACLS,
    CREATE_TOPICS,
    DELETE_ACLS,
    DELETE_RECORDS,
    DELETE_TOPICS,
    END_TXN,
    INCREMENTAL_ALTER_CONFIGS,
    OFFSET_COMMIT,
    AlterClientQuotasRequest,
    AlterUserScramCredentialsRequest,
    Api,
    CreateAclsRequest,
    CreateAclsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteAclsRequest,
    DeleteAclsResponse,
    DeleteRecordsRequest,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    EndTxnRequest,
    ErrorCode,
    IncrementalAlterConfigsRequest,
    Message,
    OffsetCommitRequest,
)
from tests.plugins.audit.declared import undeclared
from tests.proxy.protocol.generate import EVERY, make

STAMP = {"kind": "request", "schema": 2, "time": "", "instance": "a", "worker": 0, "sequence": 1}
TOPIC_ID = bytes(range(16))


def changes(api: Api, version: int, *messages: Message) -> list[dict[str, Any]]:
    subjects = Subjects(api, version)
    for message in messages:
        subjects.read(message)
    found, left_out = subjects.changes({TOPIC_ID: "orders"}.get)
    assert left_out == 0
    assert not undeclared(STAMP | {"changes": found})
    return [dict(change) for change in found]


@pytest.mark.parametrize("seed", range(3))
def test_every_message_that_changes_something_can_be_read(seed: int) -> None:
    dice = random.Random(seed)
    for cls, version in EVERY:
        if cls.api in CHANGING:
            subjects = Subjects(cls.api, version)
            subjects.read(make(cls, version, dice))
            told = subjects.changes({}.get)[0]
            assert not undeclared(STAMP | {"changes": told}), cls
            json.dumps(told)


def test_a_reader_finds_all_fields_that_it_looks_at_among_those_that_are_read() -> None:
    for api in (*READERS, *ANSWERS):
        cls = api.request if api in READERS else api.response
        assert changing_fields(cls) <= wanted_fields(cls)
        assert wanted_fields(cls), api.name


def test_a_topic_is_created_with_configs_whose_values_are_not_told() -> None:
    config = CreateTopicsRequest.Topic.Config(name="retention.ms", value="hidden")
    topic = CreateTopicsRequest.Topic(
        name="t", num_partitions=3, replication_factor=1, assignments=[], configs=[config]
    )
    refused = CreateTopicsResponse.Topic(name="t", error_code=ErrorCode["TOPIC_ALREADY_EXISTS"], error_message="")
    answer = CreateTopicsResponse(topics=[refused])
    assert changes(CREATE_TOPICS, 4, CreateTopicsRequest(topics=[topic]), answer) == [
        {
            "change": "create",
            "type": "topic",
            "name": "t",
            "key": "partitions",
            "value": "3",
            "error": "TOPIC_ALREADY_EXISTS",
        },
        {"change": "set", "type": "topic", "name": "t", "key": "retention.ms", "error": "TOPIC_ALREADY_EXISTS"},
    ]


def test_what_is_only_validated_changes_nothing() -> None:
    topic = CreateTopicsRequest.Topic(name="t", num_partitions=3, replication_factor=1, assignments=[], configs=[])
    assert changes(CREATE_TOPICS, 4, CreateTopicsRequest(topics=[topic], validate_only=True)) == []


def test_a_topic_is_deleted_by_its_id_and_told_by_its_name() -> None:
    request = DeleteTopicsRequest(topics=[DeleteTopicsRequest.Topic(topic_id=TOPIC_ID)], topic_names=[], timeout_ms=1)
    assert changes(DELETE_TOPICS, 6, request) == [{"change": "delete", "type": "topic", "name": "orders"}]


def test_configs_are_told_by_their_names() -> None:
    made = IncrementalAlterConfigsRequest.Resource
    config = made.Config(name="sasl.jaas.config", config_operation=0, value="hidden")
    request = IncrementalAlterConfigsRequest(
        resources=[made(resource_type=4, resource_name="1", configs=[config])], validate_only=False
    )
    assert changes(INCREMENTAL_ALTER_CONFIGS, 1, request) == [
        {"change": "set", "type": "broker", "name": "1", "key": "sasl.jaas.config"}
    ]


def test_acls_are_told_whole_with_what_came_of_each() -> None:
    creation = {
        "resource_type": 2,
        "resource_name": "t",
        "resource_pattern_type": 4,
        "principal": "User:alice",
        "host": "*",
        "operation": 3,
        "permission_type": 3,
    }
    request = CreateAclsRequest(creations=[CreateAclsRequest.Creation(**creation) for _ in range(2)])
    error = ErrorCode["INVALID_REQUEST"]
    results = [CreateAclsResponse.Result(error_code=code, error_message=None) for code in (0, error)]
    first, second = changes(CREATE_ACLS, 3, request, CreateAclsResponse(throttle_time_ms=0, results=results))
    assert first == {
        "change": "create",
        "type": "topic",
        "name": "t",
        "pattern": "Prefixed",
        "principal": "User:alice",
        "host": "*",
        "operation": "Read",
        "permission": "Allow",
    }
    assert second["error"] == "INVALID_REQUEST"


def test_of_deleted_acls_those_are_told_that_a_filter_found() -> None:
    wanted = DeleteAclsRequest.Filter(
        resource_type_filter=1,
        resource_name_filter=None,
        principal_filter="User:alice",
        host_filter=None,
        operation=1,
        permission_type=1,
    )
    found = DeleteAclsResponse.FilterResult.MatchingAcl(
        error_code=0,
        error_message=None,
        resource_type=3,
        resource_name="g",
        principal="User:alice",
        host="*",
        operation=2,
        permission_type=2,
    )
    result = DeleteAclsResponse.FilterResult(error_code=0, error_message=None, matching_acls=[found])
    answer = DeleteAclsResponse(throttle_time_ms=0, filter_results=[result])
    (change,) = changes(DELETE_ACLS, 3, DeleteAclsRequest(filters=[wanted]), answer)
    told = (change["change"], change["type"], change["name"], change["operation"], change["permission"])
    assert told == ("delete", "group", "g", "All", "Deny")


def test_quotas_are_told_with_entity_and_key() -> None:
    entry = AlterClientQuotasRequest.Entry
    entity = [entry.Entity(entity_type="user", entity_name="alice"), entry.Entity(entity_type="ip", entity_name=None)]
    ops = [entry.Op(key="producer_byte_rate", value=1024.0, remove=False), entry.Op(key="x", value=0.0, remove=True)]
    request = AlterClientQuotasRequest(entries=[entry(entity=entity, ops=ops)], validate_only=False)
    told = changes(ALTER_CLIENT_QUOTAS, 1, request)
    assert told[0] == {
        "change": "set",
        "type": "user quota",
        "name": "alice",
        "key": "producer_byte_rate",
        "value": "1024",
    }
    assert (told[3]["change"], told[3]["name"], told[3].get("value")) == ("unset", "<default>", None)


@pytest.mark.parametrize(("value", "told"), [(10485760.0, "10485760"), (1234567.25, "1234567.25"), (0.1, "0.1")])
def test_a_quota_is_told_in_all_its_digits(value: float, told: str) -> None:
    entry = AlterClientQuotasRequest.Entry
    ops = [entry.Op(key="producer_byte_rate", value=value, remove=False)]
    one = entry(entity=[entry.Entity(entity_type="user", entity_name="alice")], ops=ops)
    request = AlterClientQuotasRequest(entries=[one], validate_only=False)
    assert [change["value"] for change in changes(ALTER_CLIENT_QUOTAS, 1, request)] == [told]


def test_credentials_are_told_by_user_and_mechanism_and_never_what_they_are() -> None:
    made = AlterUserScramCredentialsRequest.Upsertion
    upsertion = made(name="bob", mechanism=2, iterations=4096, salt=b"hidden", salted_password=b"hidden")
    request = AlterUserScramCredentialsRequest(deletions=[], upsertions=[upsertion])
    assert changes(ALTER_USER_SCRAM_CREDENTIALS, 0, request) == [
        {"change": "set", "type": "user", "name": "bob", "key": "SCRAM-SHA-512"}
    ]


def test_records_are_deleted_before_an_offset() -> None:
    topic = DeleteRecordsRequest.Topic
    partitions = [topic.Partition(partition_index=index, offset=offset) for index, offset in ((0, 70), (1, -1))]
    request = DeleteRecordsRequest(topics=[topic(name="t", partitions=partitions)], timeout_ms=1)
    told = [(change["partition"], change["value"]) for change in changes(DELETE_RECORDS, 2, request)]
    assert told == [(0, "70"), (1, "end")]


@pytest.mark.parametrize(("committed", "change"), [(True, "commit"), (False, "abort")])
def test_a_transaction_ends_in_one_of_two_ways(committed: bool, change: str) -> None:
    request = EndTxnRequest(transactional_id="x", producer_id=1, producer_epoch=0, committed=committed)
    assert changes(END_TXN, 3, request) == [{"change": change, "type": "transactional_id", "name": "x"}]


@pytest.mark.parametrize(("member", "epoch", "is_reset"), [("", -1, True), ("m", 3, False)])
def test_offsets_are_reset_by_who_is_no_member(member: str, epoch: int, is_reset: bool) -> None:
    made = OffsetCommitRequest.Topic
    partition = made.Partition(partition_index=2, committed_offset=40, committed_metadata=None)
    topic = made(topic_id=TOPIC_ID, partitions=[partition])
    request = OffsetCommitRequest(group_id="g", generation_id_or_member_epoch=epoch, member_id=member, topics=[topic])
    told = changes(OFFSET_COMMIT, 10, request)
    assert told == (
        [{"change": "reset offset", "type": "group", "name": "g", "key": "orders", "partition": 2, "value": "40"}]
        if is_reset
        else []
    )


@pytest.mark.parametrize("said", ["orders", None])
@pytest.mark.parametrize("known", ["orders", None])
def test_a_topic_that_is_deleted_by_its_id_has_its_error_however_it_is_named(
    said: str | None, known: str | None
) -> None:
    topic = DeleteTopicsRequest.Topic(name=None, topic_id=TOPIC_ID)
    subjects = Subjects(DELETE_TOPICS, 6)
    subjects.read(DeleteTopicsRequest(topics=[topic], timeout_ms=1))
    answer = DeleteTopicsResponse.Topic(name=said, topic_id=TOPIC_ID, error_code=29)
    subjects.read(DeleteTopicsResponse(responses=[answer]))
    assert len(subjects.resources({TOPIC_ID: known}.get)) == 1
    ((change,), _) = subjects.changes({TOPIC_ID: known}.get)
    assert change["error"] == "TOPIC_AUTHORIZATION_FAILED"


def test_what_is_kept_is_bounded_and_the_rest_counted() -> None:
    request = DeleteTopicsRequest(topics=[], topic_names=[f"t-{n}" for n in range(MOST + 5)], timeout_ms=1)
    subjects = Subjects(DELETE_TOPICS, 5)
    subjects.read(request)
    found, left_out = subjects.changes({}.get)
    assert (len(found), left_out) == (MOST, 5)


def test_what_is_left_out_is_the_last_so_that_errors_stand_where_they_belong() -> None:
    def acl(principal: str) -> CreateAclsRequest.Creation:
        return CreateAclsRequest.Creation(
            resource_type=2, resource_name="t", principal=principal, host="*", operation=3, permission_type=3
        )

    long = "User:" + "x" * (MOST_TEXT // 2)
    subjects = Subjects(CREATE_ACLS, 3)
    subjects.read(CreateAclsRequest(creations=[acl(long), acl(long), acl("User:bob")]))
    results = [CreateAclsResponse.Result(error_code=error, error_message=None) for error in (0, 31, 0)]
    subjects.read(CreateAclsResponse(throttle_time_ms=0, results=results))
    found, left_out = subjects.changes({}.get)
    assert [(change["principal"], change.get("error")) for change in found] == [(long, None)]
    assert left_out == 2
