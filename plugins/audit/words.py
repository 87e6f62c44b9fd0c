"""Words: the journal's texts for types that messages have as numbers, and for ids."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import Any

from proxy.plugin import CREATE_ACLS, DELETE_ACLS, DESCRIBE_ACLS, FIND_COORDINATOR
from rules import ResourceType

ACL_TYPES = {kind.value: kind.name.lower() for kind in ResourceType}
CONFIG_TYPES = {2: "topic", 4: "broker", 8: "broker_logger", 16: "client_metrics", 32: "group"}
COORDINATOR_TYPES = {0: "group", 1: "transactional_id", 2: "share_group"}
TYPES_OF = {
    CREATE_ACLS: ACL_TYPES,
    DELETE_ACLS: ACL_TYPES,
    DESCRIBE_ACLS: ACL_TYPES,
    FIND_COORDINATOR: COORDINATOR_TYPES,
}


def config_type(number: int) -> str:
    """The type of a resource that has configs."""
    return CONFIG_TYPES.get(number, f"type {number}")


def quota_part(part: Any) -> tuple[str, str]:
    """The type and name of one part of an entity that has quotas."""
    return f"{part.entity_type} quota", "<default>" if part.entity_name is None else part.entity_name


def id_text(topic_id: bytes) -> str:
    """The id of a topic, as Kafka prints it."""
    return urlsafe_b64encode(topic_id).decode().rstrip("=")
