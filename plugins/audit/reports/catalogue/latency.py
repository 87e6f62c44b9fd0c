"""How long requests took, and how many failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plugins.audit.reports.controls import iso27001, soc2
from plugins.audit.reports.expressions import times
from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.report import AuditReport, Chart, ChartKind, ReportColumn, Row, some

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def rows(events: DataFrame, inputs: Inputs) -> DataFrame:
    """A row for each API."""
    from pyspark.sql import functions as F

    return (
        events.where(F.col("kind") == "request")
        .select("api", "outcome", "errors", *(three_digits(name).alias(name) for name in ("broker_us", "proxy_us")))
        .groupBy("api")
        .agg(
            F.count("*").alias("requests"),
            times(F.col("outcome") == "none").alias("unanswered"),
            times(F.size("errors") > 0).alias("failed"),
            _quantile("broker_us", 50),
            _quantile("broker_us", 99),
            F.max("broker_us").alias("broker_us_most"),
            _quantile("proxy_us", 50),
            _quantile("proxy_us", 99),
            F.max("proxy_us").alias("proxy_us_most"),
        )
    )


def three_digits(name: str) -> Column:
    """The number with all digits after the first three set to 0, so that there are few different values."""
    from pyspark.sql import functions as F

    unit = f"CAST(rpad('1', greatest(length(CAST({name} AS STRING)) - 2, 1), '0') AS BIGINT)"
    return F.expr(f"{name} - {name} % {unit}")


def _quantile(name: str, percent: int) -> Column:
    from pyspark.sql import functions as F

    quantile = F.expr(f"percentile_disc({percent / 100}) WITHIN GROUP (ORDER BY {name})")
    return quantile.cast("bigint").alias(f"{name}_{percent}")


def summary(rows: Sequence[Row], total: int) -> str:
    """The answer in a sentence or two."""
    if not total:
        return "There were no requests."
    many, lost, failed = (sum(row[name] for row in rows) for name in ("requests", "unanswered", "failed"))
    text = f"Of {some(many, 'request')} told one by one, {lost:,} got no answer"
    return f"{text}; answered with an error: {failed:,}."


REPORT = AuditReport(
    name="latency",
    title="Latency and errors",
    question="How long did requests take, and how many failed?",
    explanation="Half of the requests took at most the median, and 99 of 100 at most the 99th percentile. Times have "
    "three digits, the others are 0. The broker's time is until its answer began; the proxy's is what it added. "
    "Requests that the journal tells in summaries are left out, also those that brokers answered with an error.",
    columns=(
        ReportColumn("api", "STRING", "What was asked for, by Kafka's name."),
        ReportColumn("requests", "BIGINT", "How many.", "requests"),
        ReportColumn("unanswered", "BIGINT", "Those that got no answer, though the client wanted one.", "requests"),
        ReportColumn("failed", "BIGINT", "Those whose answer has an error.", "requests"),
        ReportColumn("broker_us_50", "BIGINT", "The broker's time, median.", "µs"),
        ReportColumn("broker_us_99", "BIGINT", "The broker's time, 99th percentile.", "µs"),
        ReportColumn("broker_us_most", "BIGINT", "The broker's longest time.", "µs"),
        ReportColumn("proxy_us_50", "BIGINT", "The proxy's time, median.", "µs"),
        ReportColumn("proxy_us_99", "BIGINT", "The proxy's time, 99th percentile.", "µs"),
        ReportColumn("proxy_us_most", "BIGINT", "The proxy's longest time.", "µs"),
    ),
    order=("-requests", "api"),
    controls=(
        soc2("CC7.2", "Requests that failed or stayed unanswered, by kind."),
        iso27001("A.8.16", "Behaviour of the service that stands out."),
    ),
    rows=rows,
    summary=summary,
    charts=(
        Chart("Broker's time in µs, 99th percentile, by API", ChartKind.BARS, "api", "broker_us_99"),
        Chart("Failed requests, by API", ChartKind.BARS, "api", "failed"),
    ),
)
