"""Who used topics that have a tag, and how."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plugins.audit.reports.controls import gdpr, hipaa, iso27001, pci, soc2
from plugins.audit.reports.expressions import READS, WRITES, is_refused, resources, total
from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.report import AuditReport, Chart, ChartKind, ReportColumn, Row, some, users
from plugins.audit.reports.tags import Tags
from rules.values import Pattern
from rules.vocabulary import WILDCARD, PatternType

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

CHANGES = (
    "AlterConfigs",
    "CreatePartitions",
    "CreateTopics",
    "DeleteRecords",
    "DeleteTopics",
    "IncrementalAlterConfigs",
)


def rows(events: DataFrame, inputs: Inputs) -> DataFrame:
    """A row for each tag, topic, principal, host and kind of use."""
    from pyspark.sql import functions as F

    assert inputs.tags is not None  # which this report needs
    resource = F.col("resource")
    error = resource["error"]
    how = (
        F.when(is_refused(error), "refused")
        .when(F.col("api").isin(*READS) & error.isNull(), "read")
        .when(F.col("api").isin(*WRITES) & error.isNull(), "written")
        .when(F.col("api").isin(*CHANGES) & error.isNull(), "changed")
    )
    touched = (
        resources(events, "principal", "client_host", "api")
        .where(resource["type"] == "topic")
        .select("*", resource["name"].alias("topic"), how.alias("how"))
        .where("how IS NOT NULL")
        .groupBy("topic", "principal", "client_host", "how")
        .agg(
            total(resource["times"]).alias("times"),
            total(resource["records"]).alias("records"),
            total(resource["bytes"]).alias("bytes"),
            F.min("since").alias("first"),
            F.max("until").alias("last"),
        )
    )
    return touched.select(F.explode(_tags(inputs.tags, F.col("topic"))).alias("tag"), "*")


def _tags(tags: Tags, topic: Column) -> Column:
    """The tags of a topic."""
    from pyspark.sql import functions as F

    by_tag: dict[str, Column] = {}
    for pattern, tag in tags.pairs:
        holds = _holds(pattern, topic)
        by_tag[tag] = by_tag[tag] | holds if tag in by_tag else holds
    return F.array_compact(F.array(*(F.when(holds, tag) for tag, holds in by_tag.items())))


def _holds(pattern: Pattern, topic: Column) -> Column:
    """`Pattern.holds` as an expression of Spark."""
    if pattern.is_every:
        return ~topic.startswith(WILDCARD) | (topic == WILDCARD)
    return topic.startswith(pattern.name) if pattern.type is PatternType.PREFIXED else topic == pattern.name


def summary(rows: Sequence[Row], total: int) -> str:
    """The answer in a sentence or two."""
    if not total:
        return "Nobody touched a topic that has a tag."
    tags = ", ".join(sorted({row["tag"] for row in rows}))
    topics = len({row["topic"] for row in rows})
    return f"{users(rows).capitalize()} touched {some(topics, 'topic')} with the tags {tags}."


REPORT = AuditReport(
    name="sensitive",
    title="Sensitive topics",
    question="Who touched the topics that hold data to be watched, from where, and how?",
    explanation="The file of tags says which topics these are. A topic with several tags has a row for each.",
    columns=(
        ReportColumn("tag", "STRING", "The tag, as the file says."),
        ReportColumn("topic", "STRING", "The topic."),
        ReportColumn("principal", "STRING", "Who, as Kafka writes it; none where nobody was asked to prove it."),
        ReportColumn("client_host", "STRING", "From which address."),
        ReportColumn("how", "STRING", "read, written, changed (by an administrator), or refused."),
        ReportColumn("times", "BIGINT", "How often; each partition counts.", "times"),
        ReportColumn("records", "BIGINT", "Records, where they could be counted.", "records"),
        ReportColumn("bytes", "BIGINT", "Their size as it was sent.", "bytes"),
        ReportColumn("first", "TIMESTAMP", "When first.", "UTC"),
        ReportColumn("last", "TIMESTAMP", "When last.", "UTC"),
    ),
    order=("tag", "topic", "-times", "principal"),
    controls=(
        pci("10.2.1.1", "Each user's access to the topics that the file of tags says hold cardholder data."),
        gdpr("Art. 15", "Who received the data of a topic that is tagged, and when."),
        gdpr("Art. 30", "Categories of recipients of the data of tagged topics."),
        gdpr("Art. 33", "Which tagged data a user could have taken, how much and when."),
        hipaa("164.312(b)", "Activity around topics that are tagged as health information."),
        soc2("CC6.1", "Access to the data assets that are tagged."),
        iso27001("A.8.15", "A log of who used tagged data."),
    ),
    compares=("topic",),
    rows=rows,
    summary=summary,
    charts=(Chart("How often, by tag and way", ChartKind.HEAT, "how", "times", "tag"),),
    needs="tags",
)
