"""Who read these records?"""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from plugins.audit.reports.catalogue.offsets import REPORT
from plugins.audit.reports.facts import JournalFacts
from plugins.audit.reports.inputs import Inputs, OffsetRange
from tests.plugins.audit.reports.asked import asked
from tests.plugins.audit.reports.frames import clean
from tests.plugins.audit.reports.journals import stamped
from tests.plugins.audit.reports.months import month
from tests.plugins.audit.reports.recount.counted import in_order
from tests.plugins.audit.reports.recount.offsets import rows


@pytest.mark.parametrize(
    "wanted",
    [OffsetRange("orders", 0, 10, 20), OffsetRange("orders", None, 0, 0), OffsetRange("nothing", None, 0, 9)],
)
def test_those_who_were_given_any_of_them_are_told_and_no_others(spark: SparkSession, wanted: OffsetRange) -> None:
    events = stamped(month(6, 80))
    inputs = Inputs(JournalFacts("journal", True), offsets=wanted)
    found = asked(REPORT, clean(spark, events), inputs)
    assert found == in_order(REPORT, rows(events, inputs))
    assert bool(found) == (wanted.topic == "orders")
