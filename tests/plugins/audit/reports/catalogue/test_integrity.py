"""The integrity certificate is made from facts about the journal beside its events."""

from __future__ import annotations

from pyspark.sql import SparkSession

from plugins.audit.reports.catalogue.integrity import REPORT, told
from plugins.audit.reports.facts import JournalFacts, RemarkFacts, SegmentFacts
from plugins.audit.reports.inputs import Inputs
from tests.plugins.audit.reports.asked import asked
from tests.plugins.audit.reports.frames import clean
from tests.plugins.audit.reports.recount.counted import in_order
from tests.plugins.audit.reports.recount.integrity import rows

FACTS = JournalFacts(
    "journal",
    True,
    segments=(SegmentFacts("a", "00", 1, 7, "sealed"), SegmentFacts("b", "11", None, None, "no seal")),
    remarks=(
        RemarkFacts("b", "it has no seal", None, None, False),
        RemarkFacts("b", "cut off", 8, 9, False),
        RemarkFacts('"c"\n', "this file is not of the journal", None, None, False),
    ),
)


def test_each_file_is_told_with_what_is_said_of_it(spark: SparkSession) -> None:
    found = asked(REPORT, clean(spark, []), Inputs(FACTS))
    assert found == in_order(REPORT, rows([], Inputs(FACTS)))
    assert [row[1] for row in found] == ["no seal", "remark", "sealed"]
    assert found[0][5] == "it has no seal; events 8 to 9: cut off"


def test_of_a_topic_the_sentence_says_that_nothing_was_checked() -> None:
    said = REPORT.summary([{"state": "not checked", "remark": None}], 1)
    assert said == "Nothing was checked, since a topic has no seals. Those of the journal prove its events."


def test_a_partition_of_a_topic_has_no_hash() -> None:
    facts = JournalFacts(
        "kafka://k:9092/audit", False, segments=(SegmentFacts("audit-0", "", None, None, "not checked"),)
    )
    assert list(told(facts)) == [("audit-0", "not checked", None, None, None, None)]
