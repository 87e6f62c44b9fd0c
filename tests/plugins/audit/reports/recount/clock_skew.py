"""Whose clock is wrong."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise

from plugins.audit.reports.inputs import Inputs
from tests.plugins.audit.reports.recount.counted import Event, Rows, about, until

MAY_BE_EMPTY = True


def rows(events: list[Event], inputs: Inputs) -> Rows:
    clients: dict[tuple[str | None, ...], list[int]] = {}
    for event, resource in about(events):
        if event["api"] == "Produce" and resource.get("last_timestamp", -1) >= 0:
            key = event.get("principal"), event.get("client_id"), event.get("client_host")
            clients.setdefault(key, []).append(resource["last_timestamp"] - millis(until(event)))
    for key, ahead in clients.items():
        yield "producer", *key, len(ahead), sum(one > 1000 for one in ahead), max(ahead), min(ahead)
    opened: dict[str, list[Event]] = {}
    for event in sorted(events, key=lambda event: event["sequence"]):
        if event["kind"] == "segment_opened":
            opened.setdefault(f"{event['instance']}-{event['worker']}", []).append(event)
    for host, segments in opened.items():
        back = [millis(one["time"]) - millis(other["time"]) for one, other in pairwise(segments)]
        if back:
            yield "proxy", None, None, host, len(back), sum(one > 0 for one in back), max(back), min(back)


def millis(text: str) -> int:
    at = datetime.fromisoformat(text)
    return int(at.replace(microsecond=0).timestamp()) * 1000 + at.microsecond // 1000
