"""`python -m tests.bench.reports`: how long Spark takes for each report on an audit journal of millions of events.

A generated month of some thousand events is repeated until there are enough: each copy is the journal of an instance of
its own. `--skew` gives nine of ten copies one topic alone, which is what joins and sums by topic suffer from. Events
lie as Parquet by date, as the first run of `doorkeeper report` leaves them. What reading JSON lines takes is measured
apart, on at most a million of them. Beside the time that passed stands the time that Java had of all cores: on a
machine that does other things too, only the latter says what a report costs.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from plugins.audit.reports.catalogue import REPORTS
from plugins.audit.reports.pipeline.events import PeriodEvents
from plugins.audit.reports.pipeline.lines import read
from plugins.audit.reports.pipeline.session import LOCAL, session
from plugins.audit.reports.report import CannotTellError, ordered
from tests.plugins.audit.reports.asked import INPUTS
from tests.plugins.audit.reports.journals import stamped
from tests.plugins.audit.reports.months import month

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CONNECTIONS = 2_000  # of the month
CORES, LARGE = 16, 1e9  # what the extrapolation is for
MOST_LINES = 1_000_000  # that are read as a journal has them
TICKS = os.sysconf("SC_CLK_TCK")


@click.command(help=__doc__)
@click.option("--events", type=click.IntRange(min=1), default=10_000_000, show_default=True, help="At least so many.")
@click.option("--skew", is_flag=True, help="Nine of ten events about topics are about one topic.")
@click.option("--memory", default="4g", show_default=True, help="Of Java, where Spark runs on this machine.")
@click.option("--master", default=LOCAL, show_default=True, help="Where Spark runs.")
def main(events: int, skew: bool, master: str, memory: str) -> None:
    """Print a line a report, and what all of them come to."""
    settings = {"spark.driver.memory": memory}
    with tempfile.TemporaryDirectory(prefix="doorkeeper-bench-") as folder, session(master, settings) as spark:
        bench = Bench(spark)
        taken_in = _prepare(bench, Path(folder), events, skew)
        rows = spark.read.parquet(f"file:{folder}/events")
        many = rows.count()
        began = bench.now()
        period = PeriodEvents(rows, INPUTS)
        bench.say("repeated events", many, began)
        for report in REPORTS:
            at = bench.now()
            try:
                frame = ordered(report.rows(period.of(report.scope), INPUTS), report)
                frame.write.format("noop").mode("overwrite").save()
            except CannotTellError as error:
                click.echo(f"{report.name:20} cannot tell: {error}")
                continue
            bench.say(report.name, many, at)
        bench.say("all", many, began)
        reports = (bench.now().cores - began.cores) / many
        click.echo(f"{os.cpu_count()} cores, {memory} of memory for Java.")
        first, again = ((one * LARGE / CORES / 3600) for one in (taken_in + reports, reports))
        click.echo(
            f"If time of cores goes with events: {LARGE:,.0f} events on {CORES} cores take {first:.1f} h, "
            f"of these the reports {again:.1f} h."
        )


class Moment(NamedTuple):
    """Seconds that passed, and those that Java had of all cores."""

    passed: float
    cores: float


class Bench:
    """A session of Spark, and what it takes."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        gateway = spark.sparkContext._gateway
        assert gateway is not None
        self._java = Path(f"/proc/{gateway.proc.pid}/stat")  # the script that starts Java becomes it

    def now(self) -> Moment:
        """What it took so far."""
        user, system = self._java.read_text().rpartition(")")[2].split()[11:13]
        return Moment(time.monotonic(), (int(user) + int(system)) / TICKS)

    def say(self, what: str, events: int, since: Moment) -> None:
        """Print what it took since a moment."""
        now = self.now()
        passed, cores = now.passed - since.passed, now.cores - since.cores
        click.echo(f"{what:20} {passed:8.1f} s {events / passed:12,.0f} events/s {cores:8.1f} s of cores")


def _prepare(bench: Bench, folder: Path, events: int, skew: bool) -> float:
    """Write so many events as Parquet. Gives the seconds of cores that reading one of them as JSON takes."""
    from pyspark.sql import functions as F

    spark = bench.spark
    made = stamped(month(1, CONNECTIONS))
    (folder / "month.jsonl").write_text("".join(json.dumps(one) + "\n" for one in made), encoding="utf-8")
    copies = spark.range(min(MOST_LINES, events) // len(made) + 1).drop("id")
    lines = spark.read.text(f"file:{folder}/month.jsonl").repartition(os.cpu_count() or 1)
    lines.crossJoin(copies).write.text(f"file:{folder}/lines")
    for _ in range(2):  # the first time Java compiles what it runs
        began = bench.now()
        rows = read(spark.read.text(f"file:{folder}/lines").withColumn("file", F.lit("month")))
        rows.write.format("noop").mode("overwrite").save()
        taken_in = bench.now().cores - began.cores
    many = len(made) * (min(MOST_LINES, events) // len(made) + 1)
    bench.say("JSON lines read", many, began)
    base = read(lines.withColumn("file", F.lit("month"))).where("date IS NOT NULL").cache()
    began = bench.now()
    numbered = base.crossJoin(spark.range(-(-events // base.count())).withColumnRenamed("id", "copy"))
    rows = numbered.withColumn("instance", F.concat("instance", F.lit("-"), "copy"))
    rows = _skewed(rows) if skew else rows
    rows.drop("copy").write.partitionBy("date").parquet(f"file:{folder}/events")
    bench.say("Parquet written", events, began)
    base.unpersist()
    return taken_in / many


def _skewed(rows: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F

    alone = F.transform(
        "resources", lambda it: F.when(it["type"] == "topic", it.withField("name", F.lit("orders"))).otherwise(it)
    )
    return rows.withColumn("resources", F.when(F.col("copy") % 10 != 0, alone).otherwise(F.col("resources")))


if __name__ == "__main__":
    main()
