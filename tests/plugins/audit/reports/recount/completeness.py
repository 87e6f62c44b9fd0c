"""Is anything missing from the record?"""

from __future__ import annotations

from itertools import pairwise

from plugins.audit.reports.inputs import Inputs
from tests.plugins.audit.reports.recount.counted import Event, Rows


def rows(events: list[Event], inputs: Inputs) -> Rows:
    chains: dict[tuple[str, int], list[Event]] = {}
    for event in sorted(events, key=lambda event: event["sequence"]):
        chains.setdefault((event["instance"], event["worker"]), []).append(event)
    for chain, written in chains.items():
        times = [event["time"] for event in written]
        there = (written[0]["sequence"], written[-1]["sequence"], len(written), min(times), max(times))
        yield "there", *chain, *there
        for before, after in pairwise(written):
            gone = range(before["sequence"] + 1, after["sequence"])
            if gone:
                yield "missing", *chain, gone[0], gone[-1], len(gone), before["time"], after["time"]
        for event in written:
            if event["kind"] == "events_lost":
                place = event["sequence"]
                yield "lost", *chain, place, place, event["lost"], event["lost_from"], event["lost_to"]
