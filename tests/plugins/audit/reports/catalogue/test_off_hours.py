"""Outside of working hours: days and hours are those of the time zone, also where its clocks change."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from plugins.audit.reports.catalogue.off_hours import REPORT
from plugins.audit.reports.facts import JournalFacts
from plugins.audit.reports.inputs import Inputs, WorkHours
from tests.plugins.audit.reports.asked import asked
from tests.plugins.audit.reports.frames import clean
from tests.plugins.audit.reports.journals import stamped
from tests.plugins.audit.reports.months import MARCH, OCTOBER, month
from tests.plugins.audit.reports.pipeline.test_lines import EVENT
from tests.plugins.audit.reports.recount.counted import in_order
from tests.plugins.audit.reports.recount.off_hours import rows


@pytest.mark.parametrize("zone", ["Europe/Zurich", "Asia/Kolkata", "America/St_Johns"])
def test_the_clocks_of_every_zone_are_right(spark: SparkSession, zone: str) -> None:
    events = [*stamped(month(4, 20, start=MARCH)), *stamped(month(5, 20, start=OCTOBER))]
    inputs = Inputs(JournalFacts("journal", True), zone=zone)
    found = asked(REPORT, clean(spark, events), inputs)
    assert found == in_order(REPORT, rows(events, inputs))
    assert found


def test_before_and_after_the_clocks_change_it_is_the_hour_on_the_wall(spark: SparkSession) -> None:
    """In Zurich the clocks went from 02:00 to 03:00 on Sunday 2026-03-29: 07:30 UTC is 08:30 before, 09:30 after."""
    events: list[dict[str, Any]] = [
        {**EVENT, "sequence": day, "time": f"2026-03-{day}T07:30:00.000000Z"} for day in (28, 29)
    ]
    hours = WorkHours(tuple(range(7)), 9 * 60, 10 * 60)
    found = asked(
        REPORT, clean(spark, events), Inputs(JournalFacts("journal", True), zone="Europe/Zurich", hours=hours)
    )
    assert [row[1] for row in found] == ["2026-03-28"]
