"""Is anything missing from the record?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plugins.audit.reports.controls import hipaa, iso27001, pci, soc2
from plugins.audit.reports.expressions import CHAIN
from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.report import AuditReport, ReportColumn, Row, Scope, some

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

RUN = 1 << 16  # sequence numbers that are counted together; only runs with a missing one are read one by one


def rows(events: DataFrame, inputs: Inputs) -> DataFrame:
    """For each writer: the events there are, those missing between two events, and those recorded as lost."""
    from pyspark.sql import functions as F

    run = F.floor(F.col("sequence") / RUN).alias("run")
    stamps = events.select(*CHAIN, "sequence", "time", run)
    runs = stamps.groupBy(*CHAIN, "run").agg(
        F.count("*").alias("many"),
        F.min("sequence").alias("first"),
        F.max("sequence").alias("last"),
        F.min_by("time", "sequence").alias("begun"),
        F.max_by("time", "sequence").alias("ended"),
    )
    torn = F.broadcast(runs.where(F.col("many") < F.col("last") - F.col("first") + 1).select(*CHAIN, "run"))
    inside = stamps.join(torn, [*CHAIN, "run"], "left_semi").select(
        *CHAIN, "run", F.col("sequence").alias("first"), F.col("sequence").alias("last"), *_both("time")
    )
    missing = _gaps(inside, "run").unionByName(_gaps(runs))
    lost = events.where(F.col("kind") == "events_lost").select(
        *CHAIN,
        F.lit("lost").alias("finding"),
        F.col("sequence").alias("first"),
        F.col("sequence").alias("last"),
        F.col("lost").alias("events"),
        F.col("lost_from").alias("since"),
        F.col("lost_to").alias("until"),
    )
    return _there(events, inputs).unionByName(_of_period(missing, inputs)).unionByName(_of_period(lost, inputs))


def _there(events: DataFrame, inputs: Inputs) -> DataFrame:
    from pyspark.sql import functions as F

    period = events.select(*CHAIN, "sequence", F.col("time").alias("since"), F.col("time").alias("until"))
    return (
        _of_period(period, inputs)
        .groupBy(*CHAIN)
        .agg(
            F.lit("there").alias("finding"),
            F.min("sequence").alias("first"),
            F.max("sequence").alias("last"),
            F.count("*").alias("events"),
            F.min("since").alias("since"),
            F.max("until").alias("until"),
        )
    )


def _gaps(pieces: DataFrame, *within: str) -> DataFrame:
    """The sequence numbers missing between pieces of a chain, each from `first` to `last`."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    before = Window.partitionBy(*CHAIN, *within).orderBy("first")
    return (
        pieces.withColumn("previous", F.lag("last").over(before))
        .withColumn("since", F.lag("ended").over(before))
        .where(F.col("first") > F.col("previous") + 1)
        .select(
            *CHAIN,
            F.lit("missing").alias("finding"),
            (F.col("previous") + 1).alias("first"),
            (F.col("first") - 1).alias("last"),
            (F.col("first") - F.col("previous") - 1).alias("events"),
            "since",
            F.col("begun").alias("until"),
        )
    )


def _both(name: str) -> tuple[Column, Column]:
    from pyspark.sql import functions as F

    return F.col(name).alias("begun"), F.col(name).alias("ended")


def _of_period(found: DataFrame, inputs: Inputs) -> DataFrame:
    from pyspark.sql import functions as F

    if inputs.since is not None:
        found = found.where(F.col("until") >= F.lit(inputs.since))
    return found if inputs.until is None else found.where(F.col("since") < F.lit(inputs.until))


def summary(rows: Sequence[Row], total: int) -> str:
    """The answer in a sentence or two."""
    many = {name: sum(row["events"] for row in rows if row["finding"] == name) for name in ("there", "missing", "lost")}
    if not any(many.values()):
        return "There are no events of the period, so that the seals alone say whether any are missing."
    if not many["missing"] and not many["lost"]:
        return f"The period has {some(many['there'], 'event')}. Between them none is missing."
    return (
        f"The period has {some(many['there'], 'event')}. Missing: {many['missing']:,}. Never written: {many['lost']:,}."
    )


REPORT = AuditReport(
    name="completeness",
    title="Completeness and gaps",
    question="Is anything missing from the record?",
    explanation="Each process that writes numbers its events without a gap. Where numbers are missing, events were "
    "taken away, or cannot be read. What could not be written at the time, as on a full disk, the journal says itself: "
    "it was lost. Gaps are looked for in the period and in an hour before and after it. What is missing for longer, or "
    "was cut off after the last event of a writer, is told by the seals, at the top of the page. If a writer's clock "
    "was set by more than an hour, events outside of that time look missing: ask without a period then.",
    columns=(
        ReportColumn(
            "finding", "STRING", "there: all that is read; missing: numbers that no event has; lost: never written."
        ),
        ReportColumn("instance", "STRING", "One life of one writer of the journal."),
        ReportColumn("worker", "INT", "Which of its processes."),
        ReportColumn("first", "BIGINT", "The number of the first of these events."),
        ReportColumn("last", "BIGINT", "The number of the last of these events."),
        ReportColumn("events", "BIGINT", "How many.", "events"),
        ReportColumn(
            "since", "TIMESTAMP", "When the first of them happened; of what is missing, the event before.", "UTC"
        ),
        ReportColumn(
            "until", "TIMESTAMP", "When the last of them happened; of what is missing, the event after.", "UTC"
        ),
    ),
    order=("finding", "since", "instance", "worker"),
    controls=(
        pci("10.2.1.6", "When each writer of the record began and ended."),
        pci("10.3.4", "Events that are missing from the record are found."),
        pci("10.5.1", "How far back the record goes, where no period is asked for."),
        pci("10.7.2", "Times in which the journal could not be written."),
        soc2("CC7.2", "Gaps in what is monitored."),
        hipaa("164.312(b)", "The record of activity is whole, or its gaps are known."),
        iso27001("A.8.15", "Logs are protected from loss, and losses are seen."),
    ),
    rows=rows,
    summary=summary,
    scope=Scope.AROUND,
)
