"""Whose clock is wrong: clocks of producers compared with the proxy's, and the proxy's own if it was set back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plugins.audit.reports.controls import iso27001, pci
from plugins.audit.reports.expressions import WRITES, resources, times
from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.report import AuditReport, ReportColumn, Row, Scope, some

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

AHEAD = 1_000  # ms by which a record may be younger than its request: clocks differ a little


def rows(events: DataFrame, inputs: Inputs) -> DataFrame:
    """A row for each client that wrote records with timestamps, and one for each writer of the journal."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    written = resources(events.where(F.col("api").isin(*WRITES)), "principal", "client_id", "client_host")
    newest = F.col("resource")["last_timestamp"]
    ahead = (newest - F.unix_millis("until")).alias("ahead")
    clients = (
        written.where(newest >= 0)
        .select("principal", "client_id", F.col("client_host").alias("host"), ahead)
        .groupBy("principal", "client_id", "host")
        .agg(F.lit("producer").alias("whose"), *_counted(F.col("ahead") > AHEAD))
    )
    before = Window.partitionBy("instance", "worker").orderBy("sequence")
    opened = events.where(F.col("kind") == "segment_opened")
    back = F.unix_millis(F.lag("time").over(before)) - F.unix_millis("time")
    writers = (
        opened.select(F.concat_ws("-", "instance", "worker").alias("host"), back.alias("ahead"))
        .where("ahead IS NOT NULL")
        .groupBy("host")
        .agg(F.lit("proxy").alias("whose"), *_counted(F.col("ahead") > 0))
    )
    return clients.unionByName(writers, allowMissingColumns=True)


def _counted(wrong: Column) -> tuple[Column, ...]:
    from pyspark.sql import functions as F

    return (
        F.count("*").alias("looked_at"),
        times(wrong).alias("wrong"),
        F.max("ahead").alias("most_ahead_ms"),
        F.min("ahead").alias("least_ahead_ms"),
    )


def summary(rows: Sequence[Row], total: int) -> str:
    """The answer in a sentence or two."""
    wrong = [row for row in rows if row["wrong"]]
    if not wrong:
        return "No clock was seen to be ahead of the proxy's, and the proxy's was not set back."
    clients = sum(row["whose"] == "producer" for row in wrong)
    return (
        f"{some(clients, 'client')} wrote records of a later time than they were sent at; "
        f"{some(len(wrong) - clients, 'writer')} of the journal had a clock that was set back."
    )


REPORT = AuditReport(
    name="clock_skew",
    title="Clock skew",
    question="Are the times in the record right, and which clients have a clock that is wrong?",
    explanation="A record cannot be younger than the request that brought it: a producer whose records are, by more "
    "than a second, has a clock that is ahead. Records that are older prove nothing, since they may have waited. The "
    "proxy's own clock is seen to be set back where a segment of the journal begins before the one that precedes it.",
    columns=(
        ReportColumn("whose", "STRING", "producer: a client's clock; proxy: that of a writer of the journal."),
        ReportColumn("principal", "STRING", "Who the client is."),
        ReportColumn("client_id", "STRING", "What the client calls itself."),
        ReportColumn("host", "STRING", "The client's address; of the proxy, the writer of the journal."),
        ReportColumn("looked_at", "BIGINT", "How many times were compared.", "times"),
        ReportColumn("wrong", "BIGINT", "How many of them cannot be right.", "times"),
        ReportColumn("most_ahead_ms", "BIGINT", "By how much it was ahead at most; below 0, it was behind.", "ms"),
        ReportColumn("least_ahead_ms", "BIGINT", "By how much it was ahead at least; below 0, it was behind.", "ms"),
    ),
    order=("-wrong", "-most_ahead_ms", "whose", "principal", "client_id", "host"),
    controls=(
        pci("10.6.1", "Clocks that are not in step with the proxy's."),
        iso27001("A.8.17", "Clocks are synchronised."),
    ),
    rows=rows,
    summary=summary,
    scope=Scope.PERIOD,
)
