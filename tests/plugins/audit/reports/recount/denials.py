"""Requests that were refused for lack of a right."""

from __future__ import annotations

from plugins.audit.reports.inputs import Inputs
from tests.plugins.audit.reports.recount.counted import Event, Rows, grouped, most_at_once

WHAT = ("principal", "client_host", "operation", "resource_type", "resource_name", "enforced")


def rows(events: list[Event], inputs: Inputs) -> Rows:
    denied = (event for event in events if event["kind"] == "denied")
    for key, some in grouped(denied, *WHAT).items():
        times = sorted(event["time"] for event in some)
        rule = max((event["rule"] for event in some if "rule" in event), default=None)
        yield *key, len(some), most_at_once(times), times[0], times[-1], rule, max(event["why"] for event in some)
