"""Hours in which a user moved far more data than it usually does."""

from __future__ import annotations

from statistics import median_low

from plugins.audit.reports.inputs import Inputs
from tests.plugins.audit.reports.recount.counted import Event, Rows, about

MAY_BE_EMPTY = True
DIRECTIONS = {"Fetch": "read", "ShareFetch": "read", "Produce": "written"}

Flow = tuple[str | None, str, str]


def rows(events: list[Event], inputs: Inputs) -> Rows:
    flows: dict[Flow, dict[str, list[int]]] = {}
    for event, resource in about(events):
        direction = DIRECTIONS.get(event["api"])
        if direction is None or resource["type"] != "topic" or resource.get("error") or not resource.get("bytes"):
            continue
        flow = event.get("principal"), resource.get("name") or resource["id"], direction
        sums = flows.setdefault(flow, {}).setdefault(event["time"][:13], [0, 0])
        sums[0] += resource.get("records") or 0
        sums[1] += resource["bytes"]
    for flow, hours in flows.items():
        usual = median_low(moved for _, moved in hours.values())
        for hour, (records, moved) in hours.items():
            if len(hours) >= 3 and moved > 3 * usual:
                yield *flow, f"{hour}:00:00.000000Z", records, moved, usual, len(hours)
