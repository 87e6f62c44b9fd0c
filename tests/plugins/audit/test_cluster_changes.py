"""Changes of the cluster itself: each is told whole, with the error for which it was not made."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.audit.cluster_changes import MOST
from proxy.plugin import ErrorCode, api, refuse
from proxy.protocol.messages.add_raft_voter import AddRaftVoterRequest
from proxy.protocol.messages.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from proxy.protocol.messages.alter_replica_log_dirs import AlterReplicaLogDirsRequest
from proxy.protocol.messages.create_delegation_token import CreateDelegationTokenResponse
from proxy.protocol.messages.elect_leaders import ElectLeadersRequest
from proxy.protocol.messages.expire_delegation_token import ExpireDelegationTokenRequest, ExpireDelegationTokenResponse
from proxy.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest
from proxy.protocol.messages.renew_delegation_token import RenewDelegationTokenResponse
from proxy.protocol.messages.unregister_broker import UnregisterBrokerRequest
from proxy.protocol.messages.unregister_controller import UnregisterControllerRequest
from proxy.protocol.messages.update_features import UpdateFeaturesRequest, UpdateFeaturesResponse
from tests.plugins.audit.test_changes import changes

OF_TOPIC = {"type": "topic", "name": "orders"}
UPDATE = UpdateFeaturesRequest.FeatureUpdate
RAISED = {"change": "set", "type": "feature", "name": "share.version", "value": "1"}


def test_partitions_that_move_are_told_with_their_brokers() -> None:
    topic, moved = AlterPartitionReassignmentsRequest.Topic, AlterPartitionReassignmentsRequest.Topic.Partition
    partitions = [moved(partition_index=0, replicas=[2, 3]), moved(partition_index=1, replicas=None)]
    request = AlterPartitionReassignmentsRequest(topics=[topic(name="orders", partitions=partitions)])
    assert changes(api.ALTER_PARTITION_REASSIGNMENTS, 1, request) == [
        {"change": "reassign", **OF_TOPIC, "partition": 0, "key": "replicas", "value": "2, 3"},
        {"change": "cancel reassignment", **OF_TOPIC, "partition": 1},
    ]


def test_of_more_replicas_than_any_partition_has_the_first_are_told() -> None:
    topic = AlterPartitionReassignmentsRequest.Topic
    moved = topic.Partition(partition_index=0, replicas=list(range(10_000)))
    request = AlterPartitionReassignmentsRequest(topics=[topic(name="orders", partitions=[moved])])
    (change,) = changes(api.ALTER_PARTITION_REASSIGNMENTS, 1, request)
    assert change["value"].split(", ") == [*map(str, range(MOST)), "..."]


def test_leaders_are_elected_one_by_one_or_everywhere() -> None:
    topic = ElectLeadersRequest.Topic(topic="orders", partitions=[0])
    unclean = ElectLeadersRequest(election_type=1, topic_partitions=[topic])
    everywhere = ElectLeadersRequest(election_type=0, topic_partitions=None)
    elected = {"change": "elect", "key": "leader"}
    assert changes(api.ELECT_LEADERS, 2, unclean) == [{**elected, "value": "unclean", **OF_TOPIC, "partition": 0}]
    assert changes(api.ELECT_LEADERS, 2, everywhere) == [
        {**elected, "value": "preferred", "type": "cluster", "name": "kafka-cluster"}
    ]


def test_replicas_that_move_between_disks_are_told_without_a_path() -> None:
    kind = AlterReplicaLogDirsRequest.Dir
    one = kind(path="/hidden", topics=[kind.Topic(name="orders", partitions=[3])])
    told = changes(api.ALTER_REPLICA_LOG_DIRS, 2, AlterReplicaLogDirsRequest(dirs=[one]))
    assert told == [{"change": "move", **OF_TOPIC, "partition": 3, "key": "log dir"}]


def updated(validate_only: bool = False) -> UpdateFeaturesRequest:
    wanted = [UPDATE(feature="share.version", max_version_level=1), UPDATE(feature="old.version", max_version_level=0)]
    return UpdateFeaturesRequest(feature_updates=wanted, validate_only=validate_only)


def test_features_are_told_with_their_versions() -> None:
    removed = {"change": "unset", "type": "feature", "name": "old.version"}
    assert changes(api.UPDATE_FEATURES, 2, updated()) == [RAISED, removed]
    assert changes(api.UPDATE_FEATURES, 2, updated(validate_only=True)) == []


def test_a_feature_that_was_not_changed_is_told_with_its_error() -> None:
    error = ErrorCode["INVALID_UPDATE_VERSION"]
    result = UpdateFeaturesResponse.Result(feature="old.version", error_code=error, error_message=None)
    answer = UpdateFeaturesResponse(throttle_time_ms=0, error_code=0, error_message=None, results=[result])
    raised, removed = changes(api.UPDATE_FEATURES, 1, updated(), answer)
    assert raised == RAISED
    assert removed["error"] == "INVALID_UPDATE_VERSION"


@pytest.mark.parametrize(
    ("request_", "told"),
    [
        (UnregisterBrokerRequest(broker_id=4), {"change": "unregister", "type": "broker", "name": "4"}),
        (UnregisterControllerRequest(controller_id=4), {"change": "unregister", "type": "controller", "name": "4"}),
        (
            AddRaftVoterRequest(cluster_id=None, timeout_ms=1, voter_id=4, voter_directory_id=bytes(16), listeners=[]),
            {"change": "create", "type": "voter", "name": "4"},
        ),
        (
            RemoveRaftVoterRequest(cluster_id=None, voter_id=4, voter_directory_id=bytes(16)),
            {"change": "delete", "type": "voter", "name": "4"},
        ),
    ],
)
def test_an_error_of_the_whole_answer_is_that_of_its_change(request_: Any, told: dict[str, str]) -> None:
    assert changes(request_.api, 0, request_) == [told]
    refused = refuse(request_.api, 0, request_, ErrorCode["CLUSTER_AUTHORIZATION_FAILED"])
    assert refused is not None
    assert changes(request_.api, 0, request_, refused) == [{**told, "error": "CLUSTER_AUTHORIZATION_FAILED"}]


def created(token_id: str, error: int = 0) -> CreateDelegationTokenResponse:
    return CreateDelegationTokenResponse(
        error_code=error,
        principal_type="User",
        principal_name="alice",
        issue_timestamp_ms=1,
        expiry_timestamp_ms=2,
        max_timestamp_ms=3,
        token_id=token_id,
        hmac=b"hidden",
        throttle_time_ms=0,
    )


def test_delegation_tokens_are_told_by_owner_and_id_and_never_by_their_secret() -> None:
    token = {"type": "delegation_token"}
    made = {"change": "create", **token, "principal": "User:alice"}
    assert changes(api.CREATE_DELEGATION_TOKEN, 3, created("abc")) == [{**made, "name": "abc"}]
    error = "DELEGATION_TOKEN_AUTHORIZATION_FAILED"
    assert changes(api.CREATE_DELEGATION_TOKEN, 3, created("", ErrorCode[error])) == [{**made, "error": error}]
    renewed = RenewDelegationTokenResponse(error_code=0, expiry_timestamp_ms=5, throttle_time_ms=0)
    assert changes(api.RENEW_DELEGATION_TOKEN, 2, renewed) == [{"change": "renew", **token}]
    missing = ErrorCode["DELEGATION_TOKEN_NOT_FOUND"]
    ended = ExpireDelegationTokenResponse(error_code=missing, expiry_timestamp_ms=0, throttle_time_ms=0)
    request = ExpireDelegationTokenRequest(hmac=b"hidden", expiry_time_period_ms=-1)
    told = changes(api.EXPIRE_DELEGATION_TOKEN, 2, request, ended)
    assert told == [{"change": "expire", **token, "error": "DELEGATION_TOKEN_NOT_FOUND"}]
