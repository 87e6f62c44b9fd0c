"""Who read which records, by their offsets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plugins.audit.reports.controls import gdpr, hipaa, iso27001, pci
from plugins.audit.reports.expressions import READS, requests, resources
from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.report import AuditReport, ReportColumn, Row, some

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def rows(events: DataFrame, inputs: Inputs) -> DataFrame:
    """A row for each client and partition. A read with unknown offsets is included: it may have read the records."""
    from pyspark.sql import functions as F

    resource = F.col("resource")
    topic = F.coalesce(resource["name"], resource["id"])
    read = resources(events.where(F.col("api").isin(*READS)), "principal", "client_id", "client_host").where(
        (resource["type"] == "topic") & resource["error"].isNull() & (resource["bytes"] > 0)
    )
    wanted = inputs.offsets
    first, last = resource["first_offset"], resource["last_offset"]
    if wanted is not None:
        read = read.where(topic == wanted.topic)
        read = read if wanted.partition is None else read.where(resource["partition"] == wanted.partition)
        read = read.where(first.isNull() | ((first <= wanted.last) & (last >= wanted.first)))
        first, last = F.greatest(first, F.lit(wanted.first)), F.least(last, F.lit(wanted.last))
    known = resource["first_offset"].isNotNull()
    return read.groupBy(
        "principal",
        "client_id",
        F.col("client_host").alias("host"),
        topic.alias("topic"),
        resource["partition"].alias("partition"),
    ).agg(
        requests(known).alias("reads"),
        requests(~known).alias("unknown_reads"),
        F.min(F.when(known, first)).alias("first_offset"),
        F.max(F.when(known, last)).alias("last_offset"),
        F.min("since").alias("first"),
        F.max("until").alias("last"),
    )


def summary(rows: Sequence[Row], total: int) -> str:
    """The answer in a sentence or two."""
    if not total:
        return "Nobody read these records."
    who = sorted({row["principal"] or "a client without a name" for row in rows})
    return (
        f"Who read them: {some(len(who), 'user')}, in {some(total, 'pair')} of a client and a partition: "
        + ", ".join(who[:5])
        + (", ..." if len(who) > 5 else ".")
    )


REPORT = AuditReport(
    name="offsets",
    title="Who read which records",
    question="Who read this very record?",
    explanation="Ask for records with --offsets orders-0:100-200. Without it, all that was read is told. The offsets "
    "are the first and the last that the client was given, of those that were asked for; it may have read some between "
    "more than once, or left some out. Where the offsets of a read are not known, it may have been of these records.",
    columns=(
        ReportColumn("principal", "STRING", "Who."),
        ReportColumn("client_id", "STRING", "What the client calls itself."),
        ReportColumn("host", "STRING", "From which address."),
        ReportColumn("topic", "STRING", "The topic; its id where its name was not known."),
        ReportColumn("partition", "INT", "The partition."),
        ReportColumn("reads", "BIGINT", "How often it was read.", "times"),
        ReportColumn("unknown_reads", "BIGINT", "Reads whose offsets are not known.", "times"),
        ReportColumn("first_offset", "BIGINT", "The first offset of these records."),
        ReportColumn("last_offset", "BIGINT", "The last offset of these records."),
        ReportColumn("first", "TIMESTAMP", "When it was read first.", "UTC"),
        ReportColumn("last", "TIMESTAMP", "When it was read last.", "UTC"),
    ),
    order=("topic", "partition", "principal", "client_id", "host"),
    controls=(
        pci("10.2.1.1", "Each user's access to single records."),
        gdpr("Art. 15", "Who received the records about a person."),
        gdpr("Art. 33", "Who read records that should not have been there."),
        hipaa("164.312(b)", "Who looked at records of a patient."),
        iso27001("A.8.15", "Access to single records."),
    ),
    rows=rows,
    summary=summary,
)
