"""Injected faults: each once, from the events of a real proxy."""

from __future__ import annotations

from pyspark.sql import SparkSession

from plugins.audit.reports.catalogue.faults import REPORT
from tests.plugins.audit.reports.asked import asked
from tests.plugins.audit.reports.frames import clean
from tests.plugins.audit.reports.pipeline.test_lines import EVENT

HANDLER = {"handler": "ResponseFaults.produce", "decision": "Disconnect"}
NAMED = {"handler": "faults", "decision": "disconnect", "rule": "lost-ack"}


def test_a_fault_counts_once_though_its_handler_decided_too(spark: SparkSession) -> None:
    decisions = ([HANDLER, NAMED], [NAMED, {**NAMED, "rule": "slow"}], [HANDLER])
    events = [{**EVENT, "sequence": number, "decisions": some} for number, some in enumerate(decisions)]
    found = {row[0]: row[3] for row in asked(REPORT, clean(spark, events))}
    assert found == {"lost-ack": 2, "slow": 1, None: 1}
