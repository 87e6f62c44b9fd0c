"""Access that was refused for want of a right, or would have been, and bursts of attempts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plugins.audit.reports.controls import hipaa, iso27001, pci, soc2
from plugins.audit.reports.expressions import BURST, within_minutes
from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.report import AuditReport, Chart, ChartKind, ReportColumn, Row, some

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

WHAT = ("principal", "client_host", "operation", "resource_type", "resource_name", "enforced")


def rows(events: DataFrame, inputs: Inputs) -> DataFrame:
    """A row for each principal, host, operation and resource."""
    from pyspark.sql import functions as F

    return (
        events.where(F.col("kind") == "denied")
        .withColumn("at_once", within_minutes(*WHAT))
        .groupBy(*WHAT)
        .agg(
            F.count("*").alias("times"),
            F.max("at_once").alias("most_at_once"),
            F.min("time").alias("first"),
            F.max("time").alias("last"),
            F.max("rule").alias("rule"),
            F.max("why").alias("why"),
        )
    )


def summary(rows: Sequence[Row], total: int) -> str:
    """The answer in a sentence or two."""
    if not total:
        return "Nothing was refused for want of a right."
    bursts = sum(row["most_at_once"] >= BURST for row in rows)
    trial = sum(not row["enforced"] for row in rows)
    text = f"The rules do not allow {some(total, 'kind')} of access."
    text += f" Tried {BURST} times or more within 5 minutes: {bursts:,}."
    return text + (f" Let through, since the rules were only tried: {trial:,}." if trial else "")


REPORT = AuditReport(
    name="denials",
    title="Access that was refused",
    question="Who tried to do what they may not, how often, and was it many times at once?",
    explanation=f"{BURST} times or more within 5 minutes are a burst: a program that was set up wrongly, or an attack.",
    columns=(
        ReportColumn("principal", "STRING", "Who, as Kafka writes it; none where nobody was asked to prove it."),
        ReportColumn("client_host", "STRING", "From which address."),
        ReportColumn("operation", "STRING", "What it asked for: Read, Write, Describe."),
        ReportColumn("resource_type", "STRING", "On what: topic, group, cluster."),
        ReportColumn("resource_name", "STRING", "Its name."),
        ReportColumn("enforced", "BOOLEAN", "No: the rules were only tried, and it was let through."),
        ReportColumn("times", "BIGINT", "How often.", "times"),
        ReportColumn("most_at_once", "BIGINT", "The most within any 5 minutes.", "times"),
        ReportColumn("first", "TIMESTAMP", "When first.", "UTC"),
        ReportColumn("last", "TIMESTAMP", "When last.", "UTC"),
        ReportColumn("rule", "STRING", "The rule that decided, as file:line:column; none where none allows it."),
        ReportColumn("why", "STRING", "Why."),
    ),
    order=("-times", "principal", "resource_type", "resource_name", "operation"),
    controls=(
        pci("10.2.1.4", "Attempts at access that were not allowed."),
        soc2("CC6.1", "That rules of access were in force, and what they refused."),
        soc2("CC7.2", "Bursts of refused access, as signs of an attack."),
        hipaa("164.312(b)", "Refused activity."),
        iso27001("A.8.15", "A log of access that was refused."),
        iso27001("A.8.16", "Unusual numbers of refusals."),
    ),
    rows=rows,
    summary=summary,
    charts=(Chart("Refused, by user", ChartKind.BARS, "principal", "times"),),
)
