"""Which faults were injected in the period: failures that they caused are no incidents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plugins.audit.reports.controls import iso27001, soc2
from plugins.audit.reports.expressions import times
from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.report import AuditReport, Chart, ChartKind, ReportColumn, Row, some

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

OLD = r"^(Request|Response)Faults\."  # the handlers of faults; newer events have the name of the fault too


def rows(events: DataFrame, inputs: Inputs) -> DataFrame:
    """A row for each fault, effect and API."""
    from pyspark.sql import functions as F

    decision = F.col("decision")
    return (
        events.where(F.col("kind") == "request")
        .withColumn("is_named", F.exists("decisions", lambda one: one["rule"].isNotNull()))
        .select("api", "principal", "outcome", "errors", "time", "is_named", F.explode("decisions").alias("decision"))
        .where(decision["rule"].isNotNull() | (~F.col("is_named") & decision["handler"].rlike(OLD)))
        .groupBy(decision["rule"].alias("fault"), decision["decision"].alias("effect"), "api")
        .agg(
            F.count("*").alias("requests"),
            F.count_distinct("principal").alias("users"),
            times(F.col("outcome") == "none").alias("unanswered"),
            times(F.size("errors") > 0).alias("failed"),
            F.min("time").alias("first"),
            F.max("time").alias("last"),
        )
    )


def summary(rows: Sequence[Row], total: int) -> str:
    """The answer in a sentence or two."""
    if not total:
        return "No fault was injected."
    many = sum(row["requests"] for row in rows)
    first, last = min(row["first"] for row in rows), max(row["last"] for row in rows)
    return f"A fault was injected {some(many, 'time')}, between {first[:10]} and {last[:10]}."


REPORT = AuditReport(
    name="faults",
    title="Faults that were injected",
    question="Which failures did the proxy cause on purpose, so that nobody takes them for incidents?",
    explanation="Faults are given to clients by tests of what they do then. A request may have been met by several.",
    columns=(
        ReportColumn("fault", "STRING", "The name of the fault; none: events of older proxies do not tell it."),
        ReportColumn("effect", "STRING", "What it did."),
        ReportColumn("api", "STRING", "To requests of which kind, by Kafka's name."),
        ReportColumn("requests", "BIGINT", "How often.", "times"),
        ReportColumn("users", "BIGINT", "To how many users.", "users"),
        ReportColumn("unanswered", "BIGINT", "How many of these requests got no answer.", "requests"),
        ReportColumn("failed", "BIGINT", "How many were answered with an error.", "requests"),
        ReportColumn("first", "TIMESTAMP", "The first time.", "UTC"),
        ReportColumn("last", "TIMESTAMP", "The last time.", "UTC"),
    ),
    order=("-requests", "fault", "effect", "api"),
    controls=(
        soc2("CC7.3", "Failures that were caused on purpose are told apart from incidents."),
        iso27001("A.8.29", "Tests of how clients bear failures."),
    ),
    rows=rows,
    summary=summary,
    charts=(Chart("Faults, by API", ChartKind.BARS, "api", "requests"),),
)
