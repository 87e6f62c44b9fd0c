"""Users, hosts and client ids that were not seen before."""

from __future__ import annotations

from plugins.audit.reports.inputs import Inputs
from tests.plugins.audit.reports.recount.counted import Event, Rows


def rows(events: list[Event], inputs: Inputs) -> Rows:
    seen: dict[tuple[str, str, str | None], list[str]] = {}
    for event in events:
        who, host, client = (event.get(name) for name in ("principal", "client_host", "client_id"))
        if host is None:
            continue
        for what, name in (("user", who), ("host", host), ("client id", client)):
            if name is not None:
                seen.setdefault((what, name, None), []).append(event["time"])
            if name is not None and who is not None and what != "user":
                seen.setdefault((f"{what} of a user", name, who), []).append(event["time"])
    for (what, name, who), times in seen.items():
        if inputs.since is None or min(times) >= inputs.since.strftime("%Y-%m-%dT%H:%M:%S"):
            yield what, name, who, min(times), max(times), len(times)
