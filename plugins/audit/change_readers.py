"""Readers of changes: for each API that changes something, which changes a request or its answer names.

Rules:
* `cluster_changes.py` has the readers of APIs that change the cluster itself.
* A value is recorded if it is a number or a choice of Kafka's own: partitions, offsets, quotas. The value of a config
  is never recorded, whatever its name; nor are passwords and other credentials.
* A deletion by a filter is recorded by what it deleted, which the answer says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from plugins.audit import cluster_changes
from plugins.audit.cluster_changes import AdminChanges
from plugins.audit.request_schema import AdminChange
from plugins.audit.words import ACL_TYPES, config_type, quota_part
from proxy.plugin import Api, ErrorCode, api
from rules import Operation
from rules.vocabulary import PatternType, Permission, Word

CONFIG_OPERATIONS = {0: "set", 1: "unset", 2: "append", 3: "subtract"}
MECHANISMS = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}


def _topic(topic: Any) -> Any:
    """The topic's name, or its id, which is replaced by the name later."""
    return topic.name or topic.topic_id


def _word(kind: type[Word], number: int) -> str:
    return next((one.word for one in kind if one == number), str(number))


def _created_topics(request: Any) -> AdminChanges:
    for topic in request.topics:
        partitions = len(topic.assignments) or topic.num_partitions
        yield {"change": "create", "type": "topic", "name": topic.name, "key": "partitions", "value": str(partitions)}
        for config in topic.configs:
            yield {"change": "set", "type": "topic", "name": topic.name, "key": config.name}


def _deleted_topics(request: Any) -> AdminChanges:
    for name in (*request.topic_names, *map(_topic, request.topics)):
        yield {"change": "delete", "type": "topic", "name": name}


def _grown_topics(request: Any) -> AdminChanges:
    for topic in request.topics:
        yield {"change": "grow", "type": "topic", "name": topic.name, "key": "partitions", "value": str(topic.count)}


def _replaced_configs(request: Any) -> AdminChanges:
    for resource in request.resources:
        kind, name = config_type(resource.resource_type), resource.resource_name
        yield {"change": "replace", "type": kind, "name": name}
        for config in resource.configs:
            yield {"change": "set", "type": kind, "name": name, "key": config.name}


def _altered_configs(request: Any) -> AdminChanges:
    for resource in request.resources:
        kind = config_type(resource.resource_type)
        for config in resource.configs:
            change = CONFIG_OPERATIONS.get(config.config_operation, str(config.config_operation))
            yield {"change": change, "type": kind, "name": resource.resource_name, "key": config.name}


def _acl(change: str, one: Any, pattern: int, permission: int) -> AdminChange:
    return {
        "change": change,
        "type": ACL_TYPES.get(one.resource_type, str(one.resource_type)),
        "name": one.resource_name,
        "pattern": _word(PatternType, pattern),
        "principal": one.principal,
        "host": one.host,
        "operation": _word(Operation, one.operation),
        "permission": _word(Permission, permission),
    }


def _created_acls(request: Any) -> AdminChanges:
    for one in request.creations:
        yield _acl("create", one, one.resource_pattern_type, one.permission_type)


def _deleted_acls(response: Any) -> AdminChanges:
    for result in response.filter_results:
        for one in result.matching_acls:
            change = _acl("delete", one, one.pattern_type, one.permission_type)
            if one.error_code:
                change["error"] = ErrorCode(one.error_code).name
            yield change


def _quotas(request: Any) -> AdminChanges:
    for entry in request.entries:
        for op in entry.ops:
            for kind, name in map(quota_part, entry.entity):
                change: AdminChange = {
                    "change": "unset" if op.remove else "set",
                    "type": kind,
                    "name": name,
                    "key": op.key,
                }
                if not op.remove:
                    change["value"] = repr(op.value).removesuffix(".0")
                yield change


def _credentials(request: Any) -> AdminChanges:
    for change, some in (("unset", request.deletions), ("set", request.upsertions)):
        for one in some:
            mechanism = MECHANISMS.get(one.mechanism, str(one.mechanism))
            yield {"change": change, "type": "user", "name": one.name, "key": mechanism}


def _records(request: Any) -> AdminChanges:
    for topic in request.topics:
        for one in topic.partitions:
            yield {
                "change": "delete records",
                "type": "topic",
                "name": topic.name,
                "partition": one.partition_index,
                "key": "before offset",
                "value": "end" if one.offset == -1 else str(one.offset),
            }


def _transaction(request: Any) -> AdminChanges:
    change = "commit" if request.committed else "abort"
    yield {"change": change, "type": "transactional_id", "name": request.transactional_id}


def _offset(change: str, request: Any, topic: Any, partition: int) -> AdminChange:
    return {"change": change, "type": "group", "name": request.group_id, "key": topic, "partition": partition}


def _reset_offsets(request: Any) -> AdminChanges:
    """Offsets committed by a client that is no member of the group: a member only commits what it has read."""
    if request.generation_id_or_member_epoch >= 0 or request.member_id:
        return
    for topic in request.topics:
        for one in topic.partitions:
            change = _offset("reset offset", request, _topic(topic), one.partition_index)
            yield {**change, "value": str(one.committed_offset)}


def _reset_share_offsets(request: Any) -> AdminChanges:
    for topic in request.topics:
        for one in topic.partitions:
            change = _offset("reset offset", request, topic.topic_name, one.partition_index)
            yield {**change, "value": str(one.start_offset)}


def _deleted_offsets(request: Any) -> AdminChanges:
    for topic in request.topics:
        for one in topic.partitions:
            yield _offset("delete offset", request, topic.name, one.partition_index)


def _deleted_share_offsets(request: Any) -> AdminChanges:
    for topic in request.topics:
        yield {"change": "delete offset", "type": "group", "name": request.group_id, "key": topic.topic_name}


def _deleted_groups(request: Any) -> AdminChanges:
    for name in request.groups_names:
        yield {"change": "delete", "type": "group", "name": name}


READERS: dict[Api, Callable[[Any], AdminChanges]] = {
    api.CREATE_TOPICS: _created_topics,
    api.DELETE_TOPICS: _deleted_topics,
    api.CREATE_PARTITIONS: _grown_topics,
    api.ALTER_CONFIGS: _replaced_configs,
    api.INCREMENTAL_ALTER_CONFIGS: _altered_configs,
    api.CREATE_ACLS: _created_acls,
    api.ALTER_CLIENT_QUOTAS: _quotas,
    api.ALTER_USER_SCRAM_CREDENTIALS: _credentials,
    api.DELETE_RECORDS: _records,
    api.END_TXN: _transaction,
    api.OFFSET_COMMIT: _reset_offsets,
    api.OFFSET_DELETE: _deleted_offsets,
    api.ALTER_SHARE_GROUP_OFFSETS: _reset_share_offsets,
    api.DELETE_SHARE_GROUP_OFFSETS: _deleted_share_offsets,
    api.DELETE_GROUPS: _deleted_groups,
    **cluster_changes.READERS,
}
ANSWERS: dict[Api, Callable[[Any], AdminChanges]] = {api.DELETE_ACLS: _deleted_acls, **cluster_changes.ANSWERS}
