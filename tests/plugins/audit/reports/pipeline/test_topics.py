"""Topics: a topic id in one event gets its name from another event."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.sql import SparkSession

from plugins.audit.reports.catalogue.access import REPORT as ACCESS
from plugins.audit.reports.catalogue.offsets import REPORT as OFFSETS
from plugins.audit.reports.facts import JournalFacts
from plugins.audit.reports.inputs import Inputs, OffsetRange
from plugins.audit.reports.pipeline.events import PeriodEvents
from plugins.audit.reports.pipeline.inspection import counted
from plugins.audit.reports.report import Scope
from tests.plugins.audit.reports.asked import asked
from tests.plugins.audit.reports.pipeline.test_events import FACTS, event, rows

KNOWN, UNKNOWN = "AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg"
READ = {"type": "topic", "partition": 0, "bytes": 10, "records": 2, "first_offset": 4, "last_offset": 5}


def reads(spark: SparkSession) -> Any:
    """One that knows id and name, before the period; one each by either; and one by an id that nobody names."""
    named = ({"id": KNOWN, "name": "orders"}, {"id": KNOWN}, {"name": "orders"}, {"id": UNKNOWN})
    return rows(
        spark, *(event(number, 8 + number, api="Fetch", resources=[READ | one]) for number, one in enumerate(named))
    )


def chosen(spark: SparkSession, **filters: Any) -> PeriodEvents:
    return PeriodEvents(reads(spark), Inputs(FACTS, datetime(2026, 3, 1, 9, tzinfo=UTC), **filters))


@pytest.mark.parametrize(
    ("topics", "found"),
    [(("orders",), [("orders", 2, 4)]), ((UNKNOWN,), [(UNKNOWN, 1, 2)]), ((), [("orders", 2, 4), (UNKNOWN, 1, 2)])],
)
def test_reads_by_an_id_count_for_the_topic_whose_name_another_event_says(
    spark: SparkSession, topics: tuple[str, ...], found: list[tuple[str, int, int]]
) -> None:
    events = chosen(spark, topics=topics)
    told = [row[1:4] for row in asked(ACCESS, events.of(Scope.FILTERED))]
    assert told == found


def test_who_read_records_is_told_also_where_it_read_by_an_id(spark: SparkSession) -> None:
    inputs = Inputs(JournalFacts("journal", True), offsets=OffsetRange("orders", 0, 5, 9))
    ((*_, many, unknown, first, last, _begun, _ended),) = asked(OFFSETS, chosen(spark).of(Scope.FILTERED), inputs)
    assert (many, unknown, first, last) == (2, 0, 5, 5)


def test_events_of_the_period_that_know_an_id_that_nobody_names_are_counted(spark: SparkSession) -> None:
    assert counted(chosen(spark), FACTS).unnamed == 1
    assert counted(PeriodEvents(rows(spark, event(1)), Inputs(FACTS)), FACTS).unnamed == 0


def test_what_a_request_has_too_much_of_is_counted(spark: SparkSession) -> None:
    events = rows(spark, event(1, resources_left_out=3), event(2, changes_left_out=4), event(3))
    assert counted(PeriodEvents(events, Inputs(FACTS)), FACTS).left_out == 7
