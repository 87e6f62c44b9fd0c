"""Where data comes from and where it goes."""

from __future__ import annotations

from plugins.audit.reports.inputs import Inputs
from tests.plugins.audit.reports.recount.counted import Event, Rows, about

Sums = dict[str, dict[str, list[int]]]


def rows(events: list[Event], inputs: Inputs) -> Rows:
    written: Sums = {}
    read: Sums = {}
    for event, resource in about(events):
        if event["api"] not in ("Produce", "Fetch", "ShareFetch"):
            continue
        if resource["type"] == "topic" and not resource.get("error") and resource.get("bytes"):
            topic = resource.get("name") or resource["id"]
            side = (written if event["api"] == "Produce" else read).setdefault(topic, {})
            sums = side.setdefault(event.get("principal") or "anonymous", [0, 0])
            sums[0] += resource.get("records") or 0
            sums[1] += resource["bytes"]
    nobody: dict[str | None, list[int | None]] = {None: [None, None]}
    for topic in written.keys() | read.keys():
        for producer, sent in (written.get(topic) or nobody).items():
            for consumer, got in (read.get(topic) or nobody).items():
                yield producer, topic, consumer, *sent, *got
