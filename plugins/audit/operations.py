"""Operations: the right that an API needs for each type of resource, and the resource that the rules are asked about.

Rules:
* These are the rights that brokers check, as `acl` does: a test compares this table with that of `acl`.
* A resource that a request only asks about needs Describe. A change of the whole cluster needs a right on the cluster.
"""

from __future__ import annotations

from typing import NamedTuple

from proxy.plugin import Api, api
from rules import Operation, ResourceType
from rules.vocabulary import CLUSTER_NAME

TOPIC, GROUP, CLUSTER = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLUSTER
TRANSACTIONAL_ID = ResourceType.TRANSACTIONAL_ID
TYPES = {"topic": TOPIC, "group": GROUP, "transactional_id": TRANSACTIONAL_ID, "share_group": GROUP}


class NeededRight(NamedTuple):
    """An operation on the resource itself, or on the cluster."""

    operation: Operation
    kind: ResourceType

    def asked(self, name: str) -> str:
        """The name that the rules are asked about."""
        return CLUSTER_NAME if self.kind is CLUSTER else name


def _of(operation: Operation, *apis: Api) -> dict[Api, Operation]:
    return dict.fromkeys(apis, operation)


_TOPICS = {
    **_of(Operation.WRITE, api.PRODUCE, api.ADD_PARTITIONS_TO_TXN),
    **_of(Operation.READ, api.FETCH, api.OFFSET_COMMIT, api.TXN_OFFSET_COMMIT, api.OFFSET_DELETE),
    **_of(Operation.READ, api.SHARE_FETCH, api.SHARE_ACKNOWLEDGE),
    **_of(Operation.READ, api.ALTER_SHARE_GROUP_OFFSETS, api.DELETE_SHARE_GROUP_OFFSETS),
    **_of(Operation.CREATE, api.CREATE_TOPICS),
    **_of(Operation.DELETE, api.DELETE_TOPICS, api.DELETE_RECORDS),
    **_of(Operation.ALTER, api.CREATE_PARTITIONS),
    **_of(Operation.READ, api.DESCRIBE_PRODUCERS),
}
_GROUPS = {
    **_of(Operation.READ, api.JOIN_GROUP, api.SYNC_GROUP, api.HEARTBEAT, api.LEAVE_GROUP, api.OFFSET_COMMIT),
    **_of(Operation.READ, api.ADD_OFFSETS_TO_TXN, api.TXN_OFFSET_COMMIT, api.CONSUMER_GROUP_HEARTBEAT),
    **_of(Operation.READ, api.SHARE_GROUP_HEARTBEAT, api.SHARE_FETCH, api.SHARE_ACKNOWLEDGE),
    **_of(Operation.READ, api.ALTER_SHARE_GROUP_OFFSETS, api.STREAMS_GROUP_HEARTBEAT),
    **_of(Operation.READ, api.STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE),
    **_of(Operation.DELETE, api.DELETE_GROUPS, api.OFFSET_DELETE, api.DELETE_SHARE_GROUP_OFFSETS),
}
_TRANSACTIONS = {
    **_of(Operation.WRITE, api.PRODUCE, api.INIT_PRODUCER_ID, api.ADD_PARTITIONS_TO_TXN, api.ADD_OFFSETS_TO_TXN),
    **_of(Operation.WRITE, api.END_TXN, api.TXN_OFFSET_COMMIT),
}
_BY_TYPE = {TOPIC: _TOPICS, GROUP: _GROUPS, TRANSACTIONAL_ID: _TRANSACTIONS}
_CONFIGS = {
    **_of(Operation.DESCRIBE_CONFIGS, api.DESCRIBE_CONFIGS),
    **_of(Operation.ALTER_CONFIGS, api.ALTER_CONFIGS, api.INCREMENTAL_ALTER_CONFIGS),
}
_OF_CLUSTER = {
    **_of(Operation.DESCRIBE, api.DESCRIBE_ACLS, api.DESCRIBE_LOG_DIRS, api.LIST_PARTITION_REASSIGNMENTS),
    **_of(Operation.DESCRIBE, api.DESCRIBE_USER_SCRAM_CREDENTIALS, api.DESCRIBE_QUORUM),
    **_of(Operation.DESCRIBE_CONFIGS, api.DESCRIBE_CLIENT_QUOTAS, api.LIST_CONFIG_RESOURCES),
    **_of(Operation.ALTER_CONFIGS, api.ALTER_CLIENT_QUOTAS),
    **_of(Operation.ALTER, api.UPDATE_FEATURES, api.UNREGISTER_BROKER, api.UNREGISTER_CONTROLLER),
    **_of(Operation.ALTER, api.ADD_RAFT_VOTER, api.REMOVE_RAFT_VOTER),
    **_of(Operation.ALTER, api.CREATE_ACLS, api.DELETE_ACLS, api.ALTER_REPLICA_LOG_DIRS, api.ELECT_LEADERS),
    **_of(Operation.ALTER, api.ALTER_PARTITION_REASSIGNMENTS, api.ALTER_USER_SCRAM_CREDENTIALS),
}


def needed_right(asked: Api, kind: str) -> NeededRight | None:
    """The right that a request of this API needs for a resource of this type; None: not known here."""
    if asked in _OF_CLUSTER:
        return NeededRight(_OF_CLUSTER[asked], CLUSTER)
    on = TYPES.get(kind)
    if asked in _CONFIGS:
        return NeededRight(_CONFIGS[asked], CLUSTER if on is None else on)
    return None if on is None else NeededRight(_BY_TYPE[on].get(asked, Operation.DESCRIBE), on)
