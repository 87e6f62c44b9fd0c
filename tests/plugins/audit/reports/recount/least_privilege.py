"""Rights that were used."""

from __future__ import annotations

from plugins.audit.reports.inputs import Inputs
from tests.plugins.audit.reports.recount.counted import Event, Rows, since, until
from tests.plugins.audit.reports.recount.rights import asked


def rows(events: list[Event], inputs: Inputs) -> Rows:
    times: dict[tuple[str, ...], int] = {}
    seen: dict[tuple[str, ...], list[str]] = {}
    for right in asked(events):
        if not right.refused:
            key = right[:4]
            seen.setdefault(key, []).extend((since(right.event), until(right.event)))
            times[key] = times.get(key, 0) + right.times
    return ((*key, many, min(seen[key]), max(seen[key])) for key, many in times.items())
