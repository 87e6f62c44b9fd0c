"""Protection of connections: the sentence on the page, and connections that go on in another chain."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.sql import SparkSession

from plugins.audit.reports.catalogue.posture import NOT_SERVED, REPORT
from plugins.audit.reports.facts import JournalFacts
from plugins.audit.reports.inputs import Inputs
from tests.plugins.audit.reports.asked import asked
from tests.plugins.audit.reports.frames import clean


def test_connections_that_were_not_served_are_told_apart_from_those_that_give_concern() -> None:
    weak = {"concern": "data can be read on the way", "connections": 2}
    rows = [{"concern": None, "connections": 5}, weak, {"concern": NOT_SERVED, "connections": 1_000}]
    said = "Cause for concern: 2 of 7 connections; the table says why."
    assert REPORT.summary(rows[:2], 2) == said
    assert REPORT.summary(rows, 3) == f"{said} Ended before they were served: 1,000 more."


def event(second: int, kind: str, instance: str, sequence: int, **fields: Any) -> dict[str, Any]:
    time = f"2026-03-01T08:00:{second:02}.000000Z"
    if kind != "segment_opened":
        fields |= {"connection": 1, "listener": "clients"}
    told = {"kind": kind, "schema": 5, "time": time, "instance": instance, "worker": 0, "sequence": sequence}
    return told | fields


RELOADED = [
    event(0, "segment_opened", "before", 1, segment=1),
    event(10, "connection_opened", "before", 2),
    event(20, "segment_opened", "after", 1, segment=1),
    event(30, "connection_authenticated", "after", 2),
    event(40, "connection_closed", "after", 3, lasted_us=30_000_000),
]
CLOSED_LATER = RELOADED[:-1]
OPENING_LOST = [RELOADED[0], event(40, "connection_closed", "before", 3, lasted_us=30_000_000)]


@pytest.mark.parametrize(
    ("events", "since"),
    [(RELOADED, None), (RELOADED, 5), (RELOADED, 15), (CLOSED_LATER, 5), (OPENING_LOST, None), (OPENING_LOST, 15)],
)
def test_a_connection_counts_once_though_it_goes_on_in_another_chain(
    spark: SparkSession, events: list[dict[str, Any]], since: int | None
) -> None:
    moment = None if since is None else datetime(2026, 3, 1, 8, 0, since, tzinfo=UTC)
    period = [one for one in events if moment is None or datetime.fromisoformat(one["time"]) >= moment]
    found = asked(REPORT, clean(spark, period), Inputs(JournalFacts("journal", True), moment))
    assert [row[3] for row in found] == [1]
