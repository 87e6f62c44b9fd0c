"""The table covers every API and version that clients may send."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from plugins.acl.answers import ListFilter
from plugins.acl.checks import ElementCheck, RequestCheck
from plugins.acl.configs import ConfigsCheck
from plugins.acl.errors import CLUSTER, GROUP, TOPIC, TRANSACTIONAL_ID
from plugins.acl.subjects import array_paths, name_field
from plugins.acl.table import FREE, OWN, checks
from plugins.api_versions import common
from proxy.core.filters import Filters
from proxy.protocol.api import ADD_PARTITIONS_TO_TXN, APIS, DESCRIBE_TOPIC_PARTITIONS, METADATA, PRODUCE, Api
from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.api_versions import ApiVersionsResponse
from proxy.protocol.messages.elect_leaders import ElectLeadersRequest
from rules.vocabulary import ASKED, Operation
from tests.plugins.acl.talk import Rules, Talk

TABLE = checks()
# Where requests name several resources, API by API: `Each` takes these from the schema.
ARRAYS = {
    "CreatePartitions Topic": "topics",
    "DeleteGroups Group": "groups_names",
    "DeleteRecords Topic": "topics",
    "DeleteShareGroupOffsets Topic": "topics",
    "DeleteTopics Topic": "topics, topic_names",
    "AlterShareGroupOffsets Topic": "topics",
    "ConsumerGroupDescribe Group": "group_ids",
    "DescribeGroups Group": "groups",
    "DescribeProducers Topic": "topics",
    "DescribeShareGroupOffsets Group": "groups",
    "DescribeShareGroupOffsets Topic": "groups.topics",
    "DescribeTransactions TransactionalId": "transactional_ids",
    "ListOffsets Topic": "topics",
    "OffsetCommit Topic": "topics",
    "OffsetDelete Topic": "topics",
    "OffsetFetch Group": "groups",
    "OffsetFetch Topic": "topics, groups.topics",
    "OffsetForLeaderEpoch Topic": "topics",
    "ShareAcknowledge Topic": "topics",
    "ShareGroupDescribe Group": "group_ids",
    "StreamsGroupDescribe Group": "group_ids",
    "TxnOffsetCommit Topic": "topics",
}
LISTED = {
    "DescribeShareGroupOffsets Topic": "groups.topics",
    "DescribeTransactions Topic": "transaction_states.topics",
    "ListGroups Group": "groups",
    "ListTransactions TransactionalId": "transaction_states",
    "OffsetFetch Topic": "topics, groups.topics",
}
Entry = ApiVersionsResponse.ApiVersion


def advertised() -> list[Api]:
    """Every API that clients are told of by a broker that speaks all."""
    entries = common([Entry(api_key=api.key, min_version=0, max_version=api.newest) for api in APIS.values()])
    return [APIS[entry.api_key] for entry in entries]


def test_every_advertised_api_is_in_the_table() -> None:
    assert {api.name for api in advertised()} == {api.name for api in TABLE.keys() | OWN}


@pytest.mark.parametrize("api", advertised(), ids=str)
def test_every_version_that_is_asked_about_is_looked_at(api: Api, rules: Callable[..., Rules]) -> None:
    routes = Filters([rules("acls: []").acl]).table
    seen = [version for version in api.versions if routes[api.key << 16 | version].request is not None]
    assert seen == ([] if TABLE.get(api) == FREE else [*api.versions])


def test_no_right_that_a_check_asks_for_is_said_to_be_asked_by_no_broker() -> None:
    every = [check for some in TABLE.values() for check in some if isinstance(check, (RequestCheck, ElementCheck))]
    rights = {(check.kind, check.operation) for check in every}
    rights |= {(CLUSTER, check.or_cluster) for check in every if isinstance(check, ElementCheck) and check.or_cluster}
    assert (CLUSTER, Operation.DELETE) in rights
    assert [right for right in rights if right[1] not in ASKED[right[0]]] == []


def test_an_api_that_nobody_thought_of_is_refused(rules: Callable[..., Rules]) -> None:
    acl = rules("super_users: [User:alice]").acl
    del acl._checks[ElectLeadersRequest.api]
    answer = Talk(acl).ask(ElectLeadersRequest(topic_partitions=None), 2)
    assert answer.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED


def test_the_schema_says_which_arrays_are_asked_about() -> None:
    each = [(api, check) for api, row in TABLE.items() for check in row if isinstance(check, ElementCheck)]
    asked = {f"{api} {check.kind.word}": ", ".join(check.paths(api.request)) for api, check in each}
    settings = {api for api, check in each if isinstance(check, ConfigsCheck)}
    assert {name: paths for name, paths in asked.items() if paths != "resources"} == ARRAYS
    assert {api.name for api in settings} == {"AlterConfigs", "DescribeConfigs", "IncrementalAlterConfigs"}
    for api, path in ((METADATA, "topics"), (DESCRIBE_TOPIC_PARTITIONS, "topics"), (PRODUCE, "topic_data")):
        assert array_paths(api.request, TOPIC) == (path,)


def test_the_schema_says_what_answers_list() -> None:
    listed = [(api, check) for api, row in TABLE.items() for check in row if isinstance(check, ListFilter)]
    named = {f"{api} {check.kind.word}": array_paths(api.response, check.kind) for api, check in listed}
    assert {name: ", ".join(paths) for name, paths in named.items()} == LISTED
    assert array_paths(METADATA.response, TOPIC) == ("topics",)


def test_the_schema_says_which_field_names_the_one_resource() -> None:
    fields = {GROUP: "group_id", TRANSACTIONAL_ID: "transactional_id"}
    for api, row in TABLE.items():
        for check in row:
            if isinstance(check, RequestCheck) and check.kind is not CLUSTER:
                said = "v3_and_below_transactional_id" if api is ADD_PARTITIONS_TO_TXN else fields[check.kind]
                assert name_field(api.request, check.kind).name == said


def test_a_request_without_such_a_field_is_about_no_one_resource() -> None:
    with pytest.raises(ValueError, match="not enough values"):
        name_field(METADATA.request, GROUP)
