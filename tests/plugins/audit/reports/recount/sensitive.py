"""Who touched topics that have a tag."""

from __future__ import annotations

from plugins.audit.reports.inputs import Inputs
from tests.plugins.audit.reports.people import SENSITIVE
from tests.plugins.audit.reports.recount.counted import Event, Rows, about, refused, since, until

CHANGES = (
    "CreateTopics",
    "DeleteTopics",
    "CreatePartitions",
    "DeleteRecords",
    "AlterConfigs",
    "IncrementalAlterConfigs",
)


def rows(events: list[Event], inputs: Inputs) -> Rows:
    found: dict[tuple[str | None, ...], list[int]] = {}
    seen: dict[tuple[str | None, ...], list[str]] = {}
    for event, resource in about(events):
        how = _how(event["api"], resource)
        for tag in SENSITIVE.get(resource.get("name") or "", ()) if resource["type"] == "topic" else ():
            if how is not None:
                key = tag, resource["name"], event.get("principal"), event.get("client_host"), how
                sums = found.setdefault(key, [0, 0, 0])
                sums[0] += resource["times"]
                sums[1] += resource.get("records") or 0
                sums[2] += resource.get("bytes") or 0
                seen.setdefault(key, []).extend((since(event), until(event)))
    return ((*key, *sums, min(seen[key]), max(seen[key])) for key, sums in found.items())


def _how(api: str, resource: Event) -> str | None:
    if resource.get("error"):
        return "refused" if refused(resource) else None
    if api in CHANGES:
        return "changed"
    return {"Fetch": "read", "Produce": "written"}.get(api)
