"""Hours in which a user moved far more data than it usually does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plugins.audit.reports.controls import gdpr, iso27001, pci, soc2
from plugins.audit.reports.expressions import READS, WRITES, resources, total
from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.report import AuditReport, Chart, ChartKind, ReportColumn, Row, some

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

UNUSUAL = 3  # times the usual amount
ENOUGH = 3  # hours needed to say what is usual


def rows(events: DataFrame, inputs: Inputs) -> DataFrame:
    """A row for each such hour of a user, a topic and a direction."""
    from pyspark.sql import functions as F

    resource = F.col("resource")
    usual = F.expr("percentile_disc(0.5) WITHIN GROUP (ORDER BY bytes)").cast("bigint")
    hours = (
        resources(events.where(F.col("api").isin(*READS, *WRITES)), "principal", "api", "time")
        .where((resource["type"] == "topic") & resource["error"].isNull() & (resource["bytes"] > 0))
        .groupBy(
            "principal",
            F.coalesce(resource["name"], resource["id"]).alias("topic"),
            F.when(F.col("api").isin(*READS), "read").otherwise("written").alias("direction"),
            F.date_trunc("hour", "time").alias("at"),
        )
        .agg(total(resource["records"]).alias("records"), total(resource["bytes"]).alias("bytes"))
    )
    usually = hours.groupBy("principal", "topic", "direction").agg(
        usual.alias("usual_bytes"),
        F.count("*").alias("hours"),
        F.collect_list(F.struct("at", "records", "bytes")).alias("each"),
    )
    return (
        usually.where(F.col("hours") >= ENOUGH)
        .select("principal", "topic", "direction", "usual_bytes", "hours", F.inline("each"))
        .where(F.col("bytes") > UNUSUAL * F.col("usual_bytes"))
    )


def summary(rows: Sequence[Row], total: int) -> str:
    """The answer in a sentence or two."""
    if not total:
        return f"Nobody moved more than {UNUSUAL} times the data of a usual hour."
    top = rows[0]
    who = top["principal"] or "a client without a name"
    return (
        f"In {some(total, 'hour')} somebody moved more than {UNUSUAL} times the usual. "
        f"The most: {top['bytes']:,} bytes {top['direction']} by {who} ({top['topic']}) "
        f"in the hour from {top['at'][:16]} on, where {top['usual_bytes']:,} are usual."
    )


REPORT = AuditReport(
    name="volume",
    title="Unusual volumes",
    question="When did somebody read or write far more than usual?",
    explanation=f"Usual is the median of all hours in which the user read (or wrote) the topic at all, where there are "
    f"at least {ENOUGH}. An hour is told of when it has more than {UNUSUAL} times that. Hours are those of UTC.",
    columns=(
        ReportColumn("principal", "STRING", "Who."),
        ReportColumn("topic", "STRING", "The topic; its id where its name was not known."),
        ReportColumn("direction", "STRING", "read or written."),
        ReportColumn("at", "TIMESTAMP", "When the hour begins.", "UTC"),
        ReportColumn("records", "BIGINT", "Records in that hour, where they could be counted.", "records"),
        ReportColumn("bytes", "BIGINT", "Bytes in that hour.", "bytes"),
        ReportColumn("usual_bytes", "BIGINT", "Bytes in a usual hour.", "bytes"),
        ReportColumn("hours", "BIGINT", "How many hours make the usual.", "hours"),
    ),
    order=("-bytes", "at", "principal", "topic"),
    controls=(
        pci("10.4.1.1", "Unusual amounts are found by rule, not by reading logs."),
        soc2("CC7.2", "Anomalies in how data is used."),
        gdpr("Art. 33", "Signs of data leaving in bulk."),
        iso27001("A.8.16", "Anomalous behaviour."),
    ),
    rows=rows,
    summary=summary,
    charts=(Chart("Bytes of unusual hours, by user", ChartKind.BARS, "principal", "bytes"),),
)
