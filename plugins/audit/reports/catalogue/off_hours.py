"""Requests outside of working hours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plugins.audit.reports.catalogue.administration import USUAL
from plugins.audit.reports.controls import iso27001, pci, soc2
from plugins.audit.reports.expressions import READS, WRITES, asked, total, weighed
from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.report import AuditReport, Chart, ChartKind, ReportColumn, Row, some, users

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def rows(events: DataFrame, inputs: Inputs) -> DataFrame:
    """A row for each user and day, in the time zone of the options."""
    from pyspark.sql import functions as F

    hours = inputs.hours
    local = F.from_utc_timestamp("time", inputs.zone)
    minute = F.hour("local") * 60 + F.minute("local")
    working = F.weekday("local").isin(*hours.days) & (minute >= hours.start) & (minute < hours.end)
    api = F.col("api")
    return (
        asked(events)
        .withColumn("local", local)
        .where(~working)
        .groupBy("principal", F.to_date("local").alias("day"))
        .agg(
            total(F.col("times")).alias("requests"),
            weighed(api.isin(*READS)).alias("reads"),
            weighed(api.isin(*WRITES)).alias("writes"),
            weighed((F.size("changes") > 0) & ~api.isin(*USUAL)).alias("changes"),
            F.min("since").alias("first"),
            F.max("until").alias("last"),
        )
    )


def summary(rows: Sequence[Row], total: int) -> str:
    """The answer in a sentence or two."""
    if not total:
        return "Nobody asked for anything outside of working hours."
    many = sum(row["requests"] for row in rows)
    changes = sum(row["changes"] for row in rows)
    who = users(rows).capitalize()
    return f"{who} made {some(many, 'request')} outside of working hours; to change something: {changes:,}."


REPORT = AuditReport(
    name="off_hours",
    title="Outside of working hours",
    question="Who did what at night, at the weekend, or whenever nobody should be at work?",
    explanation="Working hours and their time zone are at the top of the page. Days are those of that zone, also where "
    "its clocks change: a day then has 23 or 25 hours. Services work at any hour; look at people, and at changes.",
    columns=(
        ReportColumn("principal", "STRING", "Who; none where nobody was asked to prove it."),
        ReportColumn("day", "DATE", "The day, in the time zone that was asked for."),
        ReportColumn("requests", "BIGINT", "Requests outside of working hours.", "requests"),
        ReportColumn("reads", "BIGINT", "Those that read records.", "requests"),
        ReportColumn("writes", "BIGINT", "Those that wrote records.", "requests"),
        ReportColumn("changes", "BIGINT", "Those that were to change topics, configs, rights, ...", "requests"),
        ReportColumn("first", "TIMESTAMP", "The first of them.", "UTC"),
        ReportColumn("last", "TIMESTAMP", "The last of them.", "UTC"),
    ),
    order=("-changes", "-requests", "day", "principal"),
    controls=(
        pci("10.4.1", "Activity at unusual times, for review."),
        soc2("CC7.2", "Activity that is unusual by its time."),
        iso27001("A.8.16", "Use outside of usual hours."),
    ),
    rows=rows,
    summary=summary,
    charts=(Chart("Requests outside of working hours, by user", ChartKind.BARS, "principal", "requests"),),
)
