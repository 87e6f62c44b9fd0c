"""Pages made without Spark, from the recounts of a generated month."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path

from plugins.audit.reports.catalogue import REPORTS
from plugins.audit.reports.facts import CorruptFacts, JournalFacts, RemarkFacts, SegmentFacts
from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.render.page import write_page
from plugins.audit.reports.render.sheet import NEEDED, not_made, write_sheet
from tests.plugins.audit.reports import asked
from tests.plugins.audit.reports.journals import stamped
from tests.plugins.audit.reports.months import month
from tests.plugins.audit.reports.people import HARMFUL
from tests.plugins.audit.reports.recount.counted import Event, in_order

FACTS = JournalFacts(
    journal="/var/lib/doorkeeper/journal",
    is_verified=True,
    segments=tuple(
        SegmentFacts(f"date=2026-03-01/hour={hour:02}/x-{hour:06}.jsonl.zst", f"{hour:064x}", 1, 9, "sealed")
        for hour in range(24)
    ),
    remarks=(RemarkFacts("date=2026-03-09/hour=00/a.jsonl.zst", "3 events were lost", 17, 17, gap=True),),
    keys=("SHA256:0123",),
    events=4_711,
    repeated=2,
    corrupt=(CorruptFacts("date=2026-03-02/hour=00/b.jsonl.zst", 1, HARMFUL[0]),),
    versions=((1, 711), (2, 4_000)),
    software="doorkeeper 0.1.0",
)
INPUTS = replace(asked.INPUTS, facts=FACTS, zone="Europe/Zurich")


def write(out: Path, events: list[Event] | None = None, inputs: Inputs = INPUTS) -> Path:
    """Write a page of these events, by default those of a month."""
    events = stamped(month(1, connections=150)) if events is None else events
    sheets = []
    for report in REPORTS:
        if report.needs and getattr(inputs, report.needs) is None:
            sheets.append(not_made(report, NEEDED[report.needs]))
            continue
        recount = import_module(f"tests.plugins.audit.reports.recount.{report.name}")
        sheets.append(write_sheet(out, report, in_order(report, recount.rows(events, inputs)), inputs))
    return write_page(out, replace(inputs, facts=replace(inputs.facts, events=len(events))), sheets)
