"""Which client programs are in use, and which of them Kafka 4 would refuse."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

from plugins.audit.reports.controls import iso27001, pci, soc2
from plugins.audit.reports.expressions import asked, total, weighed
from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.report import AuditReport, ReportColumn, Row, some
from proxy.plugin import APIS
from proxy.plugin.schema import accepted, releases

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

CONNECTION = ("instance", "worker", "connection")
RELEASE = "4.0"  # the first release that refuses versions which all earlier ones accept


@cache
def oldest() -> dict[str, int]:
    """The oldest version of each API that brokers accept since the release; an API that is not here was removed."""
    newest = releases()[-1]
    known = ((api.name, accepted(RELEASE, api.key) or accepted(newest, api.key)) for api in APIS.values())
    return {name: versions.start for name, versions in known if versions}


def rows(events: DataFrame, inputs: Inputs) -> DataFrame:
    """A row for each user, client id and software. What a connection says of its software holds for all of it."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    limits = F.create_map(*(F.lit(one) for one in chain.from_iterable(sorted(oldest().items()))))
    is_refused = F.col("api_version") < F.coalesce(F.try_element_at(limits, F.col("api")), F.lit(1 << 15))
    named = F.concat_ws(" v", "api", "api_version")
    connections = (
        asked(events)
        .withColumns({"refused": is_refused, "sent": named})
        .groupBy(*CONNECTION, "principal", "client_id", "client_host", "client_software")
        .agg(
            total(F.col("times")).alias("requests"),
            weighed(F.col("refused")).alias("too_old"),
            F.collect_set(F.when(F.col("refused"), F.col("sent"))).alias("are"),
            F.min("since").alias("first"),
            F.max("until").alias("last"),
        )
    )
    said = F.max("client_software").over(Window.partitionBy(*CONNECTION))
    return (
        connections.withColumn("software", F.coalesce("client_software", said))
        .groupBy("principal", "client_id", "software")
        .agg(
            F.count_distinct("client_host").alias("hosts"),
            F.sum("requests").alias("requests"),
            F.sum("too_old").alias("too_old"),
            F.array_join(F.sort_array(F.array_distinct(F.flatten(F.collect_set("are")))), ", ").alias("too_old_are"),
            F.min("first").alias("first"),
            F.max("last").alias("last"),
        )
    )


def summary(rows: Sequence[Row], total: int) -> str:
    """The answer in a sentence or two."""
    if not total:
        return "No client asked for anything."
    late = sum(row["too_old"] > 0 for row in rows)
    if not late:
        return f"Brokers of Kafka {RELEASE} accept all that was sent by {some(total, 'client')}."
    return f"Brokers of Kafka {RELEASE} refuse requests of {late:,} of {some(total, 'client')}: upgrade first."


REPORT = AuditReport(
    name="clients",
    title="Clients and upgrade readiness",
    question=f"Which client programs are in use, and which stop working with Kafka {RELEASE}?",
    explanation=f"Kafka {RELEASE} no longer takes old versions of requests. A client that knows newer ones too, and "
    "uses old ones only with old brokers, may go on working: what counts here is what it sent.",
    columns=(
        ReportColumn("principal", "STRING", "Who."),
        ReportColumn("client_id", "STRING", "What the client calls itself."),
        ReportColumn(
            "software", "STRING", "Its library and version, as it says on that connection; old ones do not say it."
        ),
        ReportColumn("hosts", "BIGINT", "From how many addresses.", "addresses"),
        ReportColumn("requests", "BIGINT", "How many requests.", "requests"),
        ReportColumn("too_old", "BIGINT", f"Those that are too old for Kafka {RELEASE}.", "requests"),
        ReportColumn("too_old_are", "STRING", "Which these are: APIs with versions."),
        ReportColumn("first", "TIMESTAMP", "The first request.", "UTC"),
        ReportColumn("last", "TIMESTAMP", "The last request.", "UTC"),
    ),
    order=("-too_old", "-requests", "principal", "client_id", "software"),
    controls=(
        pci("6.3.2", "An inventory of client software that is seen to be in use."),
        soc2("CC7.1", "Outdated components."),
        iso27001("A.8.8", "Software that should be replaced."),
    ),
    rows=rows,
    summary=summary,
)
