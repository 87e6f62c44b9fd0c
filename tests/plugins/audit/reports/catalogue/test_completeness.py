"""Completeness: randomly removed events are found, with the right place."""

from __future__ import annotations

import random
from datetime import UTC, datetime

import pytest
from pyspark.sql import SparkSession

from plugins.audit.reports.catalogue import completeness
from plugins.audit.reports.catalogue.completeness import REPORT
from plugins.audit.reports.facts import JournalFacts
from plugins.audit.reports.inputs import Inputs
from tests.plugins.audit.reports.asked import INPUTS, asked
from tests.plugins.audit.reports.frames import clean
from tests.plugins.audit.reports.journals import stamped
from tests.plugins.audit.reports.months import month
from tests.plugins.audit.reports.recount.completeness import rows
from tests.plugins.audit.reports.recount.counted import in_order


@pytest.mark.parametrize("run", [1, 16])
def test_whatever_is_missing_is_found_within_and_between_runs(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, run: int
) -> None:
    monkeypatch.setattr(completeness, "RUN", run)
    dice = random.Random(run)
    events = [event for event in stamped(month(8, 30)) if dice.random() > 0.1]
    found = asked(REPORT, clean(spark, events))
    assert found == in_order(REPORT, rows(events, INPUTS))
    assert sum(row[0] == "missing" for row in found) > 20


def test_a_gap_counts_in_the_period_that_it_lies_in(spark: SparkSession) -> None:
    events = [event for event in stamped(month(8, 30)) if event["sequence"] not in (10, 11)]
    gap = next(row for row in rows(events, INPUTS) if row[0] == "missing" and row[2] == 0)
    since, until = (datetime.fromisoformat(text).replace(tzinfo=UTC) for text in gap[-2:])
    frame = clean(spark, events)
    for inputs, is_in in (
        (Inputs(JournalFacts("journal", True), since, until), True),
        (Inputs(JournalFacts("journal", True), until=since), False),
    ):
        assert (gap in asked(REPORT, frame, inputs)) is is_in
