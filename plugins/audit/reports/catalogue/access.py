"""Who read and wrote which topic, how much, and when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plugins.audit.reports.controls import gdpr, hipaa, iso27001, pci, soc2
from plugins.audit.reports.expressions import READS, WRITES, is_refused, requests, resources, total
from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.report import AuditReport, Chart, ChartKind, ReportColumn, Row, some

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def rows(events: DataFrame, inputs: Inputs) -> DataFrame:
    """A row for each principal and topic."""
    from pyspark.sql import functions as F

    asked = events.where(F.col("api").isin(*READS, *WRITES))
    resource = F.col("resource")
    went_well = resource["error"].isNull()
    is_read = F.col("api").isin(*READS) & went_well
    is_write = F.col("api").isin(*WRITES) & went_well
    return (
        resources(asked, "principal", "api")
        .where(resource["type"] == "topic")
        .groupBy("principal", F.coalesce(resource["name"], resource["id"]).alias("topic"))
        .agg(
            requests(is_read).alias("reads"),
            total(F.when(is_read, resource["records"])).alias("records_read"),
            total(F.when(is_read, resource["bytes"])).alias("bytes_read"),
            requests(is_write).alias("writes"),
            total(F.when(is_write, resource["records"])).alias("records_written"),
            total(F.when(is_write, resource["bytes"])).alias("bytes_written"),
            requests(is_refused(resource["error"])).alias("refused"),
            F.min("since").alias("first"),
            F.max("until").alias("last"),
        )
    )


def summary(rows: Sequence[Row], total: int) -> str:
    """The answer in a sentence or two."""
    if not total:
        return "Nobody read or wrote anything."
    top = rows[0]
    pairs = f"The table has {some(total, 'pair')} of a user and a topic."
    if not top["bytes_read"]:
        return f"{pairs} No record was read."
    who = top["principal"] or "a client without a name"
    first, last = top["first"][:10], top["last"][:10]
    days = f"on {first}" if first == last else f"between {first} and {last}"
    return f"{pairs} The most was read by {who} from {top['topic']}: {some(top['bytes_read'], 'byte')}, {days}."


REPORT = AuditReport(
    name="access",
    title="Access by user and topic",
    question="Who read which data, who wrote it, how much, and between which days?",
    explanation="A request is about one or more partitions of a topic; each of them counts as one read or write, also "
    "where no records had come since. What failed counts as neither.",
    columns=(
        ReportColumn("principal", "STRING", "Who, as Kafka writes it; none where nobody was asked to prove it."),
        ReportColumn("topic", "STRING", "The topic; its id where its name was not known."),
        ReportColumn("reads", "BIGINT", "How often a partition of it was read.", "times"),
        ReportColumn("records_read", "BIGINT", "Records read, where they could be counted.", "records"),
        ReportColumn("bytes_read", "BIGINT", "Their size as it was sent.", "bytes"),
        ReportColumn("writes", "BIGINT", "How often a partition of it was written.", "times"),
        ReportColumn("records_written", "BIGINT", "Records written, where they could be counted.", "records"),
        ReportColumn("bytes_written", "BIGINT", "Their size as it was sent.", "bytes"),
        ReportColumn("refused", "BIGINT", "How often it was refused, for want of a right.", "times"),
        ReportColumn("first", "TIMESTAMP", "When it asked for the topic first.", "UTC"),
        ReportColumn("last", "TIMESTAMP", "When it asked for it last.", "UTC"),
    ),
    order=("-bytes_read", "-bytes_written", "principal", "topic"),
    controls=(
        pci("10.2.1.1", "Each user's access to data, by topic, with the first and last time."),
        soc2("CC6.1", "Who used which data assets through the proxy."),
        gdpr("Art. 15", "Who received data of a topic that holds a person's data, and when."),
        gdpr("Art. 30", "Which users process the data of which topics."),
        hipaa("164.312(b)", "Activity in systems that hold health information."),
        iso27001("A.8.15", "A log of who used what."),
    ),
    rows=rows,
    summary=summary,
    charts=(
        Chart("Bytes read, by topic", ChartKind.BARS, "topic", "bytes_read"),
        Chart("Bytes read, by user and topic", ChartKind.HEAT, "topic", "bytes_read", "principal"),
    ),
)
