"""How long requests took, and their outcomes."""

from __future__ import annotations

from math import ceil

from plugins.audit.reports.inputs import Inputs
from tests.plugins.audit.reports.recount.counted import Event, Rows


def rows(events: list[Event], inputs: Inputs) -> Rows:
    by_api: dict[str, list[Event]] = {}
    for event in events:
        if event["kind"] == "request":
            by_api.setdefault(event["api"], []).append(event)
    for api, asked in by_api.items():
        lost = sum(event["outcome"] == "none" for event in asked)
        failed = sum(bool(event.get("errors")) for event in asked)
        times = []
        for name in ("broker_us", "proxy_us"):
            known = sorted(rounded(event[name]) for event in asked if event.get(name) is not None)
            times += [known[ceil(len(known) * part) - 1] if known else None for part in (0.5, 0.99, 1)]
        yield api, len(asked), lost, failed, *times


def rounded(number: int) -> int:
    digits = str(number)
    return int(digits[:3] + "0" * (len(digits) - 3))
