"""Cluster changes: what a request changes of the cluster itself: replicas, leaders, features, nodes, delegation tokens.

Rules:
* Of replicas only so many are recorded as no partition has: who asks need not have the right to.
* The path of a log directory is a text of the client, and is not recorded.
* A delegation token has its id in the answer to its creation. Later requests name it by its secret, so it has no name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from plugins.audit.request_schema import AdminChange
from proxy.plugin import Api, api
from rules.vocabulary import CLUSTER_NAME

MOST = 100  # replicas of a partition that are recorded
ELECTIONS = {0: "preferred", 1: "unclean"}

AdminChanges = Iterator[AdminChange]


def _reassigned_partitions(request: Any) -> AdminChanges:
    for topic in request.topics:
        for one in topic.partitions:
            of: AdminChange = {"type": "topic", "name": topic.name, "partition": one.partition_index}
            if one.replicas is None:
                yield {"change": "cancel reassignment", **of}
            else:
                brokers = [*map(str, one.replicas[:MOST]), *["..."] * (len(one.replicas) > MOST)]
                yield {"change": "reassign", **of, "key": "replicas", "value": ", ".join(brokers)}


def _elected_leaders(request: Any) -> AdminChanges:
    how = ELECTIONS.get(request.election_type, str(request.election_type))
    change: AdminChange = {"change": "elect", "key": "leader", "value": how}
    if request.topic_partitions is None:  # of all partitions
        yield {**change, "type": "cluster", "name": CLUSTER_NAME}
    for topic in request.topic_partitions or ():
        for partition in topic.partitions:
            yield {**change, "type": "topic", "name": topic.topic, "partition": partition}


def _moved_replicas(request: Any) -> AdminChanges:
    for directory in request.dirs:
        for topic in directory.topics:
            for partition in topic.partitions:
                yield {"change": "move", "type": "topic", "name": topic.name, "partition": partition, "key": "log dir"}


def _features(request: Any) -> AdminChanges:
    for one in request.feature_updates:
        of: AdminChange = {"type": "feature", "name": one.feature}
        if one.max_version_level < 1:
            yield {"change": "unset", **of}
        else:
            yield {"change": "set", **of, "value": str(one.max_version_level)}


def _node(change: str, kind: str, field: str) -> Callable[[Any], AdminChanges]:
    """The reader of a request about one node, whose id is in this field."""

    def read(request: Any) -> AdminChanges:
        yield {"change": change, "type": kind, "name": str(getattr(request, field))}

    return read


def _created_token(answer: Any) -> AdminChanges:
    owner = f"{answer.principal_type}:{answer.principal_name}"
    change: AdminChange = {"change": "create", "type": "delegation_token", "principal": owner}
    if answer.token_id:  # a refusal has none
        change["name"] = answer.token_id
    yield change


def _token(change: str) -> Callable[[Any], AdminChanges]:
    """The reader of an answer about a token."""

    def read(_: Any) -> AdminChanges:
        yield {"change": change, "type": "delegation_token"}

    return read


READERS: dict[Api, Callable[[Any], AdminChanges]] = {
    api.ALTER_PARTITION_REASSIGNMENTS: _reassigned_partitions,
    api.ELECT_LEADERS: _elected_leaders,
    api.ALTER_REPLICA_LOG_DIRS: _moved_replicas,
    api.UPDATE_FEATURES: _features,
    api.UNREGISTER_BROKER: _node("unregister", "broker", "broker_id"),
    api.UNREGISTER_CONTROLLER: _node("unregister", "controller", "controller_id"),
    api.ADD_RAFT_VOTER: _node("create", "voter", "voter_id"),
    api.REMOVE_RAFT_VOTER: _node("delete", "voter", "voter_id"),
}
ANSWERS: dict[Api, Callable[[Any], AdminChanges]] = {
    api.CREATE_DELEGATION_TOKEN: _created_token,
    api.RENEW_DELEGATION_TOKEN: _token("renew"),
    api.EXPIRE_DELEGATION_TOKEN: _token("expire"),
}
