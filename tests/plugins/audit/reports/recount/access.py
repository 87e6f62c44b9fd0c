"""Recount: who read and wrote which topic."""

from __future__ import annotations

from plugins.audit.reports.inputs import Inputs
from tests.plugins.audit.reports.recount.counted import Event, Rows, about, refused, since, until


def rows(events: list[Event], inputs: Inputs) -> Rows:
    found: dict[tuple[str | None, str], list[int]] = {}
    seen: dict[tuple[str | None, str], list[str]] = {}
    for event, resource in about(events):
        if event["api"] not in ("Fetch", "ShareFetch", "Produce") or resource["type"] != "topic":
            continue
        key = event.get("principal"), resource.get("name") or resource["id"]
        sums = found.setdefault(key, [0] * 7)
        seen.setdefault(key, []).extend((since(event), until(event)))
        if refused(resource):
            sums[6] += resource["times"]
        if not resource.get("error"):
            start = 3 if event["api"] == "Produce" else 0
            sums[start] += resource["times"]
            sums[start + 1] += resource.get("records") or 0
            sums[start + 2] += resource.get("bytes") or 0
    return ((*key, *sums, min(seen[key]), max(seen[key])) for key, sums in found.items())
