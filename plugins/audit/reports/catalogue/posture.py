"""How connections were protected, by TLS and by authentication; and connections that were not served at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plugins.audit.reports.controls import gdpr, hipaa, iso27001, pci, soc2
from plugins.audit.reports.expressions import CHAIN
from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.report import AuditReport, Chart, ChartKind, ReportColumn, Row, Scope, some

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

KINDS = (
    "connection_opened",
    "connection_authenticated",
    "authentication_failed",
    "connection_closed",
    "connection_failed",  # has no connection number, and may count several connections: each event is a group
)
NOT_SERVED = "ended before they were served"
KNOWN = ("listener", "tls", "mechanism", "principal", "tls_subject", "client_host")


def rows(events: DataFrame, inputs: Inputs) -> DataFrame:
    """A row for each listener, TLS, mechanism, cause for concern and reason not to be served."""
    from pyspark.sql import functions as F

    not_served = F.col("kind") == "connection_failed"
    outdated = F.col("tls").rlike(r"^(SSL|TLSv1(\.1)? )")
    concern = (
        F.when(F.col("why").isNotNull(), NOT_SERVED)
        .when(F.col("tls").isNull() & (F.col("mechanism") == "PLAIN"), "passwords can be read on the way")
        .when(F.col("tls").isNull(), "data can be read on the way")
        .when(outdated, "an old version of TLS")
        .when(F.col("mechanism").isNull() & F.col("tls_subject").isNull(), "nobody proved who they are")
    )
    return (
        events.where(F.col("kind").isin(*KINDS))
        .groupBy(*CHAIN, "connection", F.when(not_served, F.col("sequence")))
        .agg(
            F.max(F.when(F.col("kind") == "connection_opened", True)).alias("is_opened"),
            F.min(F.timestamp_micros(F.unix_micros("time") - F.col("lasted_us"))).alias("opened"),
            *(F.max(name).alias(name) for name in KNOWN),
            F.min(F.coalesce("window_from", "time")).alias("begun"),
            F.max(F.when(not_served, F.coalesce("window_to", "time"))).alias("ended"),
            F.max(F.when(not_served, F.col("why"))).alias("why"),
            F.coalesce(F.max("connections"), F.lit(1)).alias("many"),
        )
        .join(F.broadcast(_beginnings(events)), [*CHAIN], "left")
        .where(~_is_continued(inputs))
        .groupBy("listener", "tls", "mechanism", concern.alias("concern"), "why")
        .agg(
            F.sum("many").alias("connections"),
            F.count_distinct("principal").alias("users"),
            F.count_distinct("client_host").alias("hosts"),
            F.count_distinct("tls_subject").alias("certificates"),
            F.min("begun").alias("first"),
            F.max(F.coalesce("ended", "begun")).alias("last"),
        )
    )


def _beginnings(events: DataFrame) -> DataFrame:
    """When each chain began that began in the period."""
    from pyspark.sql import functions as F

    first = (F.col("kind") == "segment_opened") & (F.col("sequence") == 1)
    return events.where(first).groupBy(*CHAIN).agg(F.min("time").alias("chain_begun"))


def _is_continued(inputs: Inputs) -> Column:
    """Whether a connection goes on from another chain, which has its beginning in the period: it counts there.

    A reload that changes the plugin's options begins a new chain, and connections go on in it. Only the end of such a
    connection tells when it was opened. Before its end it does not count again.
    """
    from pyspark.sql import functions as F

    is_older = F.isnull("is_opened") & F.isnotnull("chain_begun") & F.isnull("why")
    is_older &= F.coalesce(F.col("opened") < F.col("chain_begun"), F.lit(True))
    if inputs.since is None:
        return is_older
    return is_older & F.coalesce(F.col("opened") >= F.lit(inputs.since), F.lit(True))


def summary(rows: Sequence[Row], total: int) -> str:
    """The answer in a sentence or two."""
    if not total:
        return "There were no connections."
    served = [row for row in rows if row["concern"] != NOT_SERVED]
    every = sum(row["connections"] for row in served)
    weak = sum(row["connections"] for row in served if row["concern"])
    others = sum(row["connections"] for row in rows) - every
    text = f"Cause for concern: {weak:,} of {some(every, 'connection')}; the table says why."
    return text + (f" Ended before they were served: {others:,} more." if others else "")


REPORT = AuditReport(
    name="posture",
    title="Protection of connections",
    question="Was everything that users sent encrypted, and did all of them prove who they are?",
    explanation="This is about the way from clients to the proxy; the way on to the brokers is not in the journal. "
    "A row of connections without a mechanism includes those that ended before anybody said who they are. Connections "
    "may also end before they are served: without TLS where it is wanted, refused by a limit, or for want of a broker.",
    columns=(
        ReportColumn("listener", "STRING", "The listener, as the configuration of the proxy names it."),
        ReportColumn("tls", "STRING", "The version and cipher of TLS; none: without TLS."),
        ReportColumn("mechanism", "STRING", "The SASL mechanism; none: without SASL."),
        ReportColumn("connections", "BIGINT", "How many connections.", "connections"),
        ReportColumn("users", "BIGINT", "Of how many users.", "users"),
        ReportColumn("hosts", "BIGINT", "From how many addresses.", "hosts"),
        ReportColumn("certificates", "BIGINT", "With how many certificates of clients.", "certificates"),
        ReportColumn("first", "TIMESTAMP", "When the first of them began.", "UTC"),
        ReportColumn("last", "TIMESTAMP", "When the last of them began.", "UTC"),
        ReportColumn("concern", "STRING", "What should not be so; none where nothing is wrong."),
        ReportColumn("why", "STRING", "Why they were not served; none where they were."),
    ),
    order=("-connections", "listener", "tls", "mechanism"),
    controls=(
        pci("4.2.1", "Which connections from clients were encrypted, and how."),
        pci("8.3.1", "By which mechanisms users proved who they are."),
        soc2("CC6.1", "How users proved who they are."),
        soc2("CC6.7", "Whether data was encrypted on its way from and to clients."),
        gdpr("Art. 32", "Encryption of data on its way from and to clients."),
        hipaa("164.312(e)(1)", "Encryption on the way from and to clients."),
        hipaa("164.312(d)", "By which mechanisms users proved who they are."),
        iso27001("A.8.24", "Which versions and ciphers of TLS were in use."),
    ),
    scope=Scope.PERIOD,  # a connection is about no topic
    rows=rows,
    summary=summary,
    charts=(Chart("Connections, by cause for concern", ChartKind.BARS, "concern", "connections"),),
)
