"""What was done outside of working hours."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from zoneinfo import ZoneInfo

from plugins.audit.reports.inputs import Inputs
from tests.plugins.audit.reports.recount.counted import Event, Rows, since, until


def rows(events: list[Event], inputs: Inputs) -> Rows:
    found: dict[tuple[str | None, str], list[Event]] = {}
    for event in events:
        if event["kind"] not in ("request", "summary"):
            continue
        local = datetime.fromisoformat(event["time"]).astimezone(ZoneInfo(inputs.zone))
        minute = local.hour * 60 + local.minute
        hours = inputs.hours
        if local.weekday() not in hours.days or not hours.start <= minute < hours.end:
            found.setdefault((event.get("principal"), local.date().isoformat()), []).append(event)
    for key, done in found.items():
        reads = many(event for event in done if event["api"] in ("Fetch", "ShareFetch"))
        writes = many(event for event in done if event["api"] == "Produce")
        changes = many(event for event in done if event.get("changes") and event["api"] != "EndTxn")
        yield *key, many(done), reads, writes, changes, min(map(since, done)), max(map(until, done))


def many(events: Iterable[Event]) -> int:
    return sum(event.get("requests", 1) for event in events)
