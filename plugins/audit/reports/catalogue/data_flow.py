"""The flow of data: producers, topics, consumers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plugins.audit.reports.controls import gdpr, iso27001, pci, soc2
from plugins.audit.reports.expressions import READS, WRITES, resources, total
from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.report import AuditReport, ReportColumn, Row, some

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def rows(events: DataFrame, inputs: Inputs) -> DataFrame:
    """A row for each producer of a topic with each of its consumers; null where there is none."""
    from pyspark.sql import functions as F

    resource = F.col("resource")
    moved = (
        resources(events.where(F.col("api").isin(*READS, *WRITES)), "principal", "api")
        .where((resource["type"] == "topic") & resource["error"].isNull() & (resource["bytes"] > 0))
        .groupBy(
            F.coalesce(resource["name"], resource["id"]).alias("topic"),
            F.col("api").isin(*WRITES).alias("is_written"),
            F.coalesce("principal", F.lit("anonymous")).alias("who"),
        )
        .agg(total(resource["records"]).alias("records"), total(resource["bytes"]).alias("bytes"))
    )
    return _side(moved.where("is_written"), "producer", "written").join(
        _side(moved.where("NOT is_written"), "consumer", "read"), "topic", "full_outer"
    )


def _side(moved: DataFrame, who: str, what: str) -> DataFrame:
    from pyspark.sql import functions as F

    names = {"who": who, "records": f"records_{what}", "bytes": f"bytes_{what}"}
    return moved.select("topic", *(F.col(name).alias(other) for name, other in names.items()))


def summary(rows: Sequence[Row], total: int) -> str:
    """The answer in a sentence or two."""
    if not total:
        return "No data went through the proxy."
    topics = len({row["topic"] for row in rows})
    unread = len({row["topic"] for row in rows if row["consumer"] is None})
    through = f"Data went through {some(topics, 'topic')}."
    if not unread:
        return f"{through} Somebody read each of them in this period."
    return f"{through} Nobody read {unread:,} of them in this period."


REPORT = AuditReport(
    name="data_flow",
    title="Data flow map",
    question="Where does data come from, through which topic, and who gets it?",
    explanation="Each row is one way that data can have taken: all that the producer wrote into the topic, and all "
    "that the consumer read from it. Who did not prove who it is, is anonymous.",
    columns=(
        ReportColumn("producer", "STRING", "Who wrote; none: nobody did in this period."),
        ReportColumn("topic", "STRING", "The topic; its id where its name was not known."),
        ReportColumn("consumer", "STRING", "Who read; none: nobody did in this period."),
        ReportColumn(
            "records_written", "BIGINT", "Records that the producer wrote, where they could be counted.", "records"
        ),
        ReportColumn("bytes_written", "BIGINT", "Their size as it was sent.", "bytes"),
        ReportColumn(
            "records_read", "BIGINT", "Records that the consumer read, where they could be counted.", "records"
        ),
        ReportColumn("bytes_read", "BIGINT", "Their size as it was sent.", "bytes"),
    ),
    order=("topic", "producer", "consumer"),
    controls=(
        gdpr("Art. 30", "Recipients of the data of each topic, and its sources."),
        pci("1.2.4", "Evidence for a diagram of data flows."),
        soc2("CC6.1", "Which systems exchange which data."),
        iso27001("A.8.15", "Transfers between systems."),
    ),
    rows=rows,
    summary=summary,  # no chart: the figures of a consumer are repeated for each producer, and cannot be summed
)
