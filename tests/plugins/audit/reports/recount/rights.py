"""Used rights, from the table of `acl` of the checks that brokers make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tests.plugins.audit.reports.recount.counted import Event, about, refused

READS = {"Fetch": "Read", "Produce": "Write", "Metadata": "Describe", "OffsetCommit": "Read"}
GROUPS = {"FindCoordinator": "Describe", "JoinGroup": "Read", "SyncGroup": "Read", "OffsetCommit": "Read"}
ON_TOPICS = {
    **READS,
    "CreateTopics": "Create",
    "DeleteTopics": "Delete",
    "DeleteRecords": "Delete",
    "CreatePartitions": "Alter",
    "OffsetDelete": "Read",
}
ON_GROUPS = {**GROUPS, "OffsetDelete": "Delete", "DeleteGroups": "Delete"}
ON_CLUSTER = {
    "CreateAcls": "Alter",
    "DeleteAcls": "Alter",
    "DescribeAcls": "Describe",
    "ElectLeaders": "Alter",
    "AlterUserScramCredentials": "Alter",
    "UpdateFeatures": "Alter",
    "AlterClientQuotas": "AlterConfigs",
}


class Right(NamedTuple):
    """One right, used or refused by one request."""

    principal: str
    operation: str
    kind: str
    name: str
    event: Event
    refused: bool
    times: int


def asked(events: Iterable[Event]) -> Iterator[Right]:
    for event in events:
        principal = event.get("principal") or (None if event.get("mechanism") else "User:ANONYMOUS")
        if event["kind"] in ("request", "summary") and principal is not None:
            resources = [resource for _, resource in about([event])]
            for operation, kind, name, resource in _of(event["api"], resources):
                yield Right(principal, operation, kind, name, event, refused(resource), resource.get("times", 1))


def _of(api: str, resources: list[Event]) -> Iterator[tuple[str, str, str, Event]]:
    if api in ON_CLUSTER:
        for one in resources or [{}]:
            yield ON_CLUSTER[api], "cluster", "kafka-cluster", one
        return
    for one in resources:
        if api == "IncrementalAlterConfigs":
            cluster = one["type"] == "broker"
            name = "kafka-cluster" if cluster else one["name"]
            yield "AlterConfigs", "cluster" if cluster else one["type"], name, one
        elif one["type"] == "topic" and api in ON_TOPICS:
            yield ON_TOPICS[api], "topic", one["name"], one
        elif one["type"] == "group" and api in ON_GROUPS:
            yield ON_GROUPS[api], "group", one["name"], one
