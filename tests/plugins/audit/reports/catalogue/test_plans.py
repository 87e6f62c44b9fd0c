"""Plans: the number of shuffles of each report must equal the one in `plans.json`, so that no new one goes unnoticed.

`python -m tests.plugins.audit.reports.catalogue.test_plans` writes the file anew.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from pyspark.sql import SparkSession

from plugins.audit.reports.catalogue import REPORTS
from plugins.audit.reports.pipeline.session import session
from plugins.audit.reports.report import AuditReport, ordered
from plugins.audit.schema import ddl
from tests.plugins.audit.reports.asked import INPUTS

KEPT = Path(__file__).with_name("plans.json")
SHUFFLE = re.compile(r"\bExchange (?:hash|range|Single|RoundRobin)")


def shuffles(spark: SparkSession, report: AuditReport, folder: Path) -> int:
    """Of a journal so large that no side of a join is sent to all machines, unless the report says so."""
    events = spark.read.schema(f"{ddl()}, `date` DATE, `hour` INT").parquet(f"file:{folder}")
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    try:
        plan = ordered(report.rows(events, INPUTS), report)._jdf.queryExecution().executedPlan().toString()
    finally:
        spark.conf.unset("spark.sql.autoBroadcastJoinThreshold")
    return len(SHUFFLE.findall(plan))


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.name)
def test_a_report_moves_rows_as_often_as_is_known(spark: SparkSession, tmp_path: Path, report: AuditReport) -> None:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    many = shuffles(spark, report, tmp_path)
    assert kept.get(report.name) == many, f"if that is as it should be: python -m {__name__}"


def test_nothing_else_is_kept() -> None:
    assert json.loads(KEPT.read_text(encoding="utf-8")).keys() == {report.name for report in REPORTS}


if __name__ == "__main__":
    with session("local[1]") as one, TemporaryDirectory() as empty:
        counts = {report.name: shuffles(one, report, Path(empty)) for report in REPORTS}
    KEPT.write_text(json.dumps(counts, indent=2, sort_keys=True) + "\n", encoding="utf-8")
