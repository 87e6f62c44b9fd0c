"""What administrators changed: topics, configs, ACLs, quotas, credentials, offsets, records, and the cluster itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plugins.audit import cluster_changes
from plugins.audit.changes import CHANGING
from plugins.audit.reports.controls import gdpr, hipaa, iso27001, pci, soc2
from plugins.audit.reports.expressions import is_refused
from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.report import AuditReport, Chart, ChartKind, ReportColumn, Row, some, users

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

APIS = (
    "AddRaftVoter",
    "AlterClientQuotas",
    "AlterConfigs",
    "AlterPartitionReassignments",
    "AlterReplicaLogDirs",
    "AlterShareGroupOffsets",
    "AlterUserScramCredentials",
    "CreateAcls",
    "CreateDelegationToken",
    "CreatePartitions",
    "CreateTopics",
    "DeleteAcls",
    "DeleteGroups",
    "DeleteRecords",
    "DeleteShareGroupOffsets",
    "DeleteTopics",
    "ElectLeaders",
    "ExpireDelegationToken",
    "IncrementalAlterConfigs",
    "OffsetDelete",
    "RemoveRaftVoter",
    "RenewDelegationToken",
    "UnregisterBroker",
    "UnregisterController",
    "UpdateFeatures",
)
USUAL = ("EndTxn",)  # every transactional producer sends it: no administrator's change
# Since these versions of the schema events have their changes.
OF_CLUSTER = tuple(sorted(api.name for api in cluster_changes.READERS.keys() | cluster_changes.ANSWERS.keys()))  # 4
DETAILED = tuple(sorted({api.name for api in CHANGING}.difference(OF_CLUSTER)))  # 2


def rows(events: DataFrame, inputs: Inputs) -> DataFrame:
    """A row for each change, in the order of time."""
    from pyspark.sql import functions as F

    is_told = F.col("changes").isNotNull() & ~F.col("api").isin(*USUAL)
    detailed = F.when(F.col("api").isin(*DETAILED), 2).when(F.col("api").isin(*OF_CLUSTER), 4)
    is_untold = detailed.isNull() | (F.col("schema") < detailed) | (F.size("errors") > 0)
    would_change = F.col("validate_only").isNull()  # before version 5 nothing tells it of one that failed
    is_change = is_told | (F.col("api").isin(*APIS) & is_untold & would_change)
    change = F.col("change")
    acl = F.concat_ws(
        " ", change["permission"], change["principal"], change["operation"], change["pattern"], change["host"]
    )
    # An error without a change belongs to all changes, where nothing tells which one it belongs to. That of a quota did
    # not stand with its change once.
    is_told_of_none = ~F.exists("changes", lambda one: one["error"].isNotNull())
    of_all = F.when(change.isNull() | (change["type"].endswith(" quota") & is_told_of_none), F.get("errors", 0))
    error = F.coalesce(change["error"], of_all)
    outcome = (
        F.when(is_refused(error), "refused")
        .when(error.isNotNull(), "failed")
        .when(F.col("outcome") == "answered", "done")
        .otherwise("not known")
    )
    return (
        events.where((F.col("kind") == "request") & is_change)
        .select("*", F.explode_outer("changes").alias("change"))
        .select(
            "time",
            "principal",
            "client_host",
            "client_id",
            "api",
            change["change"].alias("change"),
            change["type"].alias("type"),
            change["name"].alias("name"),
            change["key"].alias("key"),
            change["value"].alias("value"),
            change["partition"].alias("partition"),
            F.when(acl != "", acl).alias("acl"),
            outcome.alias("outcome"),
            error.alias("error"),
            F.lit(1).cast("bigint").alias("changes"),
        )
    )


def summary(rows: Sequence[Row], total: int) -> str:
    """The answer in a sentence or two."""
    if not total:
        return "No administrator changed anything."
    kinds = sorted({row["type"] for row in rows if row["type"]})
    what = ", ".join(kinds) or "the cluster"
    return f"{users(rows).capitalize()} made {some(total, 'change')}, or tried to. The first ones are about: {what}."


REPORT = AuditReport(
    name="administration",
    title="Changes by administrators",
    question="Who changed topics, settings, rights, passwords or positions of readers, when, and to what?",
    explanation="Passwords and the values of settings are not in the journal. Requests that only ask whether a change "
    "would do are not here; those that failed are, where they were recorded before version 5 of the schema. What "
    "version 1 recorded has the request, and not what it changed; so has what changed the cluster itself before "
    "version 4.",
    columns=(
        ReportColumn("time", "TIMESTAMP", "When it was answered.", "UTC"),
        ReportColumn("principal", "STRING", "Who, as Kafka writes it; none where nobody was asked to prove it."),
        ReportColumn("client_host", "STRING", "From which address."),
        ReportColumn("client_id", "STRING", "What the client calls itself."),
        ReportColumn("api", "STRING", "Kafka's name of the request."),
        ReportColumn("change", "STRING", "What it does: create, delete, set, unset, elect, reset offset, ..."),
        ReportColumn("type", "STRING", "Of what: topic, group, user, broker, feature, or a kind of quota."),
        ReportColumn("name", "STRING", "Its name."),
        ReportColumn("key", "STRING", "Its part: a setting, a quota, a mechanism, partitions, a topic of a group."),
        ReportColumn("value", "STRING", "To what: a number of partitions, brokers, an offset, a quota."),
        ReportColumn("partition", "INT", "The partition, where it is about one."),
        ReportColumn("acl", "STRING", "Permission, principal, operation, pattern, host; of a token its owner."),
        ReportColumn("outcome", "STRING", "done, refused (for want of a right), failed, or not known."),
        ReportColumn("error", "STRING", "The error that it was answered with."),
        ReportColumn("changes", "BIGINT", "1: so that rows can be summed.", "changes"),
    ),
    order=("time", "principal", "api", "type", "name", "key"),
    controls=(
        pci("10.2.1.2", "Every action of an administrator that changed something through the proxy."),
        pci("10.2.1.5", "Credentials and rights that were created, changed or deleted."),
        pci("10.2.1.7", "Topics and groups that were created or deleted."),
        soc2("CC6.2", "Credentials that were made and taken away."),
        soc2("CC6.3", "Rights that were granted and taken away."),
        soc2("CC7.2", "Changes of settings, to be compared with those that were agreed."),
        gdpr("Art. 30", "When data of a topic was deleted by an administrator."),
        hipaa("164.312(b)", "Activity of administrators."),
        iso27001("A.5.18", "Rights of access that were granted and revoked."),
        iso27001("A.8.15", "A log of administrators' actions."),
    ),
    rows=rows,
    summary=summary,
    charts=(Chart("Changes, by user and request", ChartKind.HEAT, "api", "changes", "principal"),),
)
