"""Failed logins, in series of those that follow each other, and whether a login succeeded afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plugins.audit.reports.controls import hipaa, iso27001, pci, soc2
from plugins.audit.reports.expressions import BURST, times, within_minutes
from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.report import AuditReport, Chart, ChartKind, ReportColumn, Row, Scope

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PAUSE = 15 * 60  # seconds after which a failure belongs to another series


def rows(events: DataFrame, inputs: Inputs) -> DataFrame:
    """A row for each series: failures from one host, each less than PAUSE after the one before."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    failed = F.col("kind") == "authentication_failed"
    of_host = Window.partitionBy("client_host").orderBy("time", "instance", "worker", "sequence")
    before = of_host.rowsBetween(Window.unboundedPreceding, -1)
    so_far = of_host.rowsBetween(Window.unboundedPreceding, 0)
    last_failure = F.last(F.when(failed, F.unix_micros("time")), ignorenulls=True).over(before)
    follows = F.unix_micros("time") - F.col("last_failure") < PAUSE * 1_000_000
    begins = failed & ~F.coalesce("follows", F.lit(False))
    return (
        events.where(failed | (F.col("kind") == "connection_authenticated"))
        .withColumn("last_failure", last_failure)
        .withColumn("follows", follows)
        .withColumn("series", F.count(F.when(begins, 1)).over(so_far))
        .withColumn("at_once", within_minutes("client_host", "kind"))
        .where(failed | F.col("follows"))
        .groupBy("client_host", "series")
        .agg(
            F.min(F.when(failed, F.col("time"))).alias("first"),
            F.max(F.when(failed, F.col("time"))).alias("last"),
            times(failed).alias("failures"),
            F.max(F.when(failed, F.col("at_once"))).alias("most_at_once"),
            F.count_distinct(F.when(failed, F.col("claimed"))).alias("users"),
            F.min(F.when(failed, F.col("claimed"))).alias("claimed"),
            F.min(F.when(failed, F.col("mechanism"))).alias("mechanism"),
            F.min(F.when(failed, F.col("why"))).alias("why"),
            times(~failed).alias("got_in"),
        )
        .drop("series")
    )


def summary(rows: Sequence[Row], total: int) -> str:
    """The answer in a sentence or two."""
    if not total:
        return "No login failed."
    bursts, got_in = sum(row["most_at_once"] >= BURST for row in rows), sum(row["got_in"] > 0 for row in rows)
    text = f"Series of failed logins: {total:,}; with {BURST} or more within 5 minutes: {bursts:,}."
    return text + f" After {got_in:,} of them somebody logged in from the same address."


REPORT = AuditReport(
    name="failed_logins",
    title="Failed logins",
    question="From where did somebody try to log in and fail, how often, and did they get in afterwards?",
    explanation=f"Failures from one address that follow each other within {PAUSE // 60} minutes are one series. "
    f"{BURST} or more within 5 minutes are a burst: guessing of passwords, or a password that was changed.",
    columns=(
        ReportColumn("client_host", "STRING", "From which address."),
        ReportColumn("first", "TIMESTAMP", "The first failure of the series.", "UTC"),
        ReportColumn("last", "TIMESTAMP", "The last one.", "UTC"),
        ReportColumn("failures", "BIGINT", "How many.", "failures"),
        ReportColumn("most_at_once", "BIGINT", "The most within any 5 minutes.", "failures"),
        ReportColumn("users", "BIGINT", "As how many different users, of those that are known.", "users"),
        ReportColumn("claimed", "STRING", "One of these users; none where no known user was named."),
        ReportColumn("mechanism", "STRING", "The SASL mechanism, one of several."),
        ReportColumn("why", "STRING", "Why it failed; one reason of several."),
        ReportColumn("got_in", "BIGINT", "Logins from there that succeeded during the series or soon after.", "logins"),
    ),
    order=("-failures", "first", "client_host"),
    controls=(
        pci("10.2.1.4", "Attempts to log in that were not valid."),
        pci("8.3.4", "Series of attempts, to be compared with what locks an account."),
        soc2("CC6.1", "That users must prove who they are, and who failed to."),
        soc2("CC7.2", "Bursts of failures, as signs of an attack."),
        hipaa("164.308(a)(5)", "Monitoring of attempts to log in."),
        iso27001("A.8.16", "Unusual numbers of failed logins."),
        iso27001("A.8.15", "A log of logins that failed."),
    ),
    scope=Scope.PERIOD,  # a failed login has no topic, and its principal is not known
    rows=rows,
    summary=summary,
    charts=(Chart("Failures, by address", ChartKind.BARS, "client_host", "failures"),),
)
