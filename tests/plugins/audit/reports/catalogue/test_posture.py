"""Protection of connections: the sentence on the page."""

from __future__ import annotations

from plugins.audit.reports.catalogue.posture import NOT_SERVED, REPORT


def test_connections_that_were_not_served_are_told_apart_from_those_that_give_concern() -> None:
    weak = {"concern": "data can be read on the way", "connections": 2}
    rows = [{"concern": None, "connections": 5}, weak, {"concern": NOT_SERVED, "connections": 1_000}]
    said = "Cause for concern: 2 of 7 connections; the table says why."
    assert REPORT.summary(rows[:2], 2) == said
    assert REPORT.summary(rows, 3) == f"{said} Ended before they were served: 1,000 more."
