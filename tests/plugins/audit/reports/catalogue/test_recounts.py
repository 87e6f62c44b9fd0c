"""Every report equals a recount in plain Python, over generated months."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from plugins.audit.reports.catalogue import REPORTS
from plugins.audit.reports.report import AuditReport
from tests.plugins.audit.reports.asked import INPUTS, asked
from tests.plugins.audit.reports.frames import clean
from tests.plugins.audit.reports.journals import older, stamped
from tests.plugins.audit.reports.months import MARCH, OCTOBER, month
from tests.plugins.audit.reports.recount.counted import in_order

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Journal = tuple[list[dict[str, Any]], "DataFrame"]


def _events(name: str) -> list[dict[str, Any]]:
    match name:
        case "empty":
            return []
        case "October":
            return stamped(month(2, start=OCTOBER))
    events = stamped(month(3, connections=100, start=MARCH))
    half = len(events) // 2
    return [*older(events[:half], 1), *events[half:]]


@pytest.fixture(scope="module", params=["March, of two schemas", "October", "empty"])
def journal(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[Journal]:
    events = _events(request.param)
    rows = clean(spark, events)
    yield events, rows
    rows.unpersist()


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.name)
def test_every_report_equals_a_recount(report: AuditReport, journal: Journal) -> None:
    events, rows = journal
    recount = import_module(f"tests.plugins.audit.reports.recount.{report.name}")
    counted = in_order(report, recount.rows(events, INPUTS))
    assert asked(report, rows) == counted
    assert counted or not events or getattr(recount, "MAY_BE_EMPTY", False)
