"""Which faults were injected."""

from __future__ import annotations

from plugins.audit.reports.inputs import Inputs
from tests.plugins.audit.reports.recount.counted import Event, Rows


def rows(events: list[Event], inputs: Inputs) -> Rows:
    found: dict[tuple[str | None, ...], list[Event]] = {}
    for event in events:
        decisions = event.get("decisions") or [] if event["kind"] == "request" else []
        named = [one for one in decisions if one.get("rule")]
        old = [one for one in decisions if one["handler"].split(".")[0] in ("RequestFaults", "ResponseFaults")]
        for decision in named or old:
            key = decision.get("rule"), decision["decision"], event["api"]
            found.setdefault(key, []).append(event)
    for key, met in found.items():
        users = {event["principal"] for event in met if event.get("principal")}
        lost = sum(event["outcome"] == "none" for event in met)
        failed = sum(bool(event.get("errors")) for event in met)
        times = [event["time"] for event in met]
        yield *key, len(met), len(users), lost, failed, min(times), max(times)
