"""The files that reports are made from: facts about the journal beside its events."""

from __future__ import annotations

from plugins.audit.reports.inputs import Inputs
from tests.plugins.audit.reports.recount.counted import Event, Rows

MAY_BE_EMPTY = True


def rows(events: list[Event], inputs: Inputs) -> Rows:
    facts = inputs.facts
    files = [one.path for one in facts.segments]
    for one in facts.segments:
        of_it = (remark for remark in facts.remarks if remark.place == one.path)
        said = [f"{remark.events}: {remark.what}" if remark.events else remark.what for remark in of_it]
        yield one.path, one.state, one.first, one.last, one.sha256 or None, "; ".join(said) if said else None
    for remark in facts.remarks:
        if remark.place not in files:
            yield remark.place, "remark", remark.first, remark.last, None, remark.what
