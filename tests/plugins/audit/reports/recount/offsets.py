"""Who read which records, by their offsets."""

from __future__ import annotations

from plugins.audit.reports.inputs import Inputs
from tests.plugins.audit.reports.recount.counted import Event, Rows, about, since, until


def rows(events: list[Event], inputs: Inputs) -> Rows:
    found: dict[tuple[str | int | None, ...], list[tuple[Event, Event]]] = {}
    for event, resource in about(events):
        if event["api"] not in ("Fetch", "ShareFetch") or resource["type"] != "topic":
            continue
        if resource.get("error") or not resource.get("bytes") or not asked_for(resource, inputs):
            continue
        client = event.get("principal"), event.get("client_id"), event.get("client_host")
        key = *client, resource.get("name") or resource["id"], resource.get("partition")
        found.setdefault(key, []).append((event, resource))
    for key, reads in found.items():
        known = [resource for _, resource in reads if "first_offset" in resource]
        first = min((resource["first_offset"] for resource in known), default=None)
        last = max((resource["last_offset"] for resource in known), default=None)
        if inputs.offsets and first is not None and last is not None:
            first, last = max(first, inputs.offsets.first), min(last, inputs.offsets.last)
        told = sum(resource["times"] for resource in known)
        untold = sum(resource["times"] for _, resource in reads) - told
        begun, ended = min(since(event) for event, _ in reads), max(until(event) for event, _ in reads)
        yield *key, told, untold, first, last, begun, ended


def asked_for(resource: Event, inputs: Inputs) -> bool:
    wanted = inputs.offsets
    if wanted is None:
        return True
    if (resource.get("name") or resource["id"]) != wanted.topic:
        return False
    if wanted.partition not in (None, resource.get("partition")):
        return False
    if "first_offset" not in resource:
        return True
    return resource["first_offset"] <= wanted.last and wanted.first <= resource["last_offset"]
