"""What administrators changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plugins.audit.reports.inputs import Inputs
from tests.plugins.audit.reports.recount.counted import Event, Rows

TOLD = (
    "CreateTopics",
    "DeleteTopics",
    "CreatePartitions",
    "DeleteRecords",
    "IncrementalAlterConfigs",
    "CreateAcls",
    "DeleteAcls",
    "AlterClientQuotas",
    "AlterUserScramCredentials",
    "OffsetDelete",
    "DeleteGroups",
)
OF_CLUSTER = ("ElectLeaders", "UpdateFeatures")
SINCE = dict.fromkeys(TOLD, 2) | dict.fromkeys(OF_CLUSTER, 4)  # the schema by which their events have their changes


def rows(events: list[Event], inputs: Inputs) -> Rows:
    for event in events:
        if event["kind"] == "request" and event["api"] in SINCE:
            yield from _of(event)


def _of(event: Event) -> Iterator[tuple[Any, ...]]:
    errors = event.get("errors") or []
    changes = event.get("changes")
    if event.get("validate_only"):
        return
    if changes is None and event["schema"] >= SINCE[event["api"]] and not errors:
        return  # it only validated the change, as version 4 has it
    any_told = any("error" in change for change in changes or ())
    for change in changes or [{}]:
        error = change.get("error")
        if error is None and errors and (not change or (change["type"].endswith("quota") and not any_told)):
            error = errors[0]
        outcome = "done" if event["outcome"] == "answered" else "not known"
        if error is not None:
            outcome = "refused" if error.endswith("_AUTHORIZATION_FAILED") else "failed"
        acl = [change[part] for part in ("permission", "principal", "operation", "pattern", "host") if part in change]
        yield (
            *(event.get(name) for name in ("time", "principal", "client_host", "client_id", "api")),
            *(change.get(name) for name in ("change", "type", "name", "key", "value", "partition")),
            " ".join(acl) or None,
            outcome,
            error,
            1,
        )
