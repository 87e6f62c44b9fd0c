"""Values for fields that a scenario leaves out of a request, and words for enum values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rules.vocabulary import Operation, PatternType, Permission, ResourceType

# Values that a broker accepts, in fields where a zero would cause another error.
SENSIBLE: dict[str, Any] = {
    "acks": -1,
    "client_software_name": "test",
    "client_software_version": "1",
    "committed_leader_epoch": -1,
    "count": 1,
    "current_leader_epoch": -1,
    "endpoint_type": 1,
    "generation_id": -1,
    "host": "*",
    "host_filter": None,
    "iterations": 4096,
    "leader_epoch": -1,
    "max_bytes": 1 << 20,
    "max_num_offsets": 1,
    "max_records": 10,
    "batch_size": 10,
    "mechanism": 1,
    "member_epoch": -1,
    "num_partitions": 1,
    "partition_max_bytes": 1 << 20,
    "pattern_type_filter": 1,
    "permission_type": 3,
    "permission_type_filter": 1,
    "operation_filter": 1,
    "resource_type_filter": 1,
    "process_id": "process",
    "producer_epoch": -1,
    "producer_id": -1,
    "protocol_type": "consumer",
    "rebalance_timeout_ms": 10_000,
    "replica_id": -1,
    "replication_factor": 1,
    "resource_pattern_type": 3,
    "response_partition_limit": 2000,
    "retention_time_ms": -1,
    "session_epoch": -1,
    "session_timeout_ms": 10_000,
    "strict": False,
    "timeout_ms": 10_000,
    "timestamp": -1,
    "transaction_timeout_ms": 10_000,
}
CONFIG_RESOURCES = {"TOPIC": 2, "BROKER": 4, "BROKER_LOGGER": 8, "CLIENT_METRICS": 16, "GROUP": 32}
WITH_OWN_NAMES = (2, 3, 5, 16, 32)  # resource types, of ACLs and of configs, whose names belong to a scenario
ANY = {"ANY": 1, "MATCH": 2}
WORDS: dict[str, Mapping[str, int]] = {
    "config_operation": {"SET": 0, "DELETE": 1, "APPEND": 2, "SUBTRACT": 3},
    "key_type": {"GROUP": 0, "TRANSACTION": 1, "SHARE": 2},
    "operation": {**ANY, **Operation.__members__},
    "permission_type": {**ANY, **Permission.__members__},
    "pattern_type": {**ANY, **PatternType.__members__},
    "acl_resource_type": {**ANY, **ResourceType.__members__},
    "config_resource_type": CONFIG_RESOURCES,
    "resource_types": CONFIG_RESOURCES,
}
