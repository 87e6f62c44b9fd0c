"""Users, hosts and client ids that were never seen before the period."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plugins.audit.reports.controls import hipaa, iso27001, pci, soc2
from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.report import AuditReport, Chart, ChartKind, ReportColumn, Row, Scope, some

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def rows(events: DataFrame, inputs: Inputs) -> DataFrame:
    """A row for each user, host or client id that was first seen in the period."""
    from pyspark.sql import functions as F

    def one(what: str, name: str, of: str | None = None) -> Column:
        whose = F.lit(None).cast("string") if of is None else F.col(of)
        return F.struct(F.lit(what).alias("what"), F.col(name).alias("name"), whose.alias("principal"))

    seen = F.array(
        one("user", "principal"),
        one("host", "client_host"),
        one("client id", "client_id"),
        one("host of a user", "client_host", "principal"),
        one("client id of a user", "client_id", "principal"),
    )
    first = (
        events.where(F.col("client_host").isNotNull())
        .select("time", F.inline(seen))
        .where("name IS NOT NULL AND (principal IS NOT NULL OR what NOT LIKE '% of a user')")
        .groupBy("what", "name", "principal")
        .agg(F.min("time").alias("first"), F.max("time").alias("last"), F.count("*").alias("events"))
    )
    return first if inputs.since is None else first.where(F.col("first") >= F.lit(inputs.since))


def summary(rows: Sequence[Row], total: int) -> str:
    """The answer in a sentence or two."""
    if not total:
        return "Nobody came for the first time."
    users, hosts, clients = (sum(row["what"] == what for row in rows) for what in ("user", "host", "client id"))
    return f"{some(users, 'user')}, {some(hosts, 'host')} and {some(clients, 'client id')} came for the first time."


REPORT = AuditReport(
    name="newcomers",
    title="New users, hosts and client ids",
    question="Who came for the first time, or from a place from which they never came before?",
    explanation="Seen first in the period, as far back as the journal goes. Where the period begins with the journal, "
    "everybody is new. A client chooses its client id; others may choose the same.",
    columns=(
        ReportColumn("what", "STRING", "What is new: user, host, client id; host or client id of a user."),
        ReportColumn("name", "STRING", "The user, the address, or the client id."),
        ReportColumn("principal", "STRING", "Whose host or client id it is; none where that is not told."),
        ReportColumn("first", "TIMESTAMP", "When it was seen first.", "UTC"),
        ReportColumn("last", "TIMESTAMP", "When it was seen last.", "UTC"),
        ReportColumn("events", "BIGINT", "In how many events.", "events"),
    ),
    order=("-what", "first", "name"),
    controls=(
        pci("10.4.1", "Users and places that are new, for the daily review."),
        soc2("CC6.2", "Users that appeared, to be compared with those that were authorized."),
        soc2("CC7.2", "Known users at unknown places."),
        hipaa("164.308(a)(1)", "A review of who uses the system."),
        iso27001("A.8.16", "Unusual origins of connections."),
    ),
    rows=rows,
    summary=summary,
    charts=(Chart("Events of what is new, by kind", ChartKind.BARS, "what", "events"),),
    scope=Scope.HISTORY,
)
