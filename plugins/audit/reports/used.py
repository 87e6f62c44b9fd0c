"""Rights that were used: who did what with which resource, in the terms of ACLs.

Rules:
* The right that a request needs for a resource follows from its API, as in `acl`. So events of every version of the
  schema count, also if no rules were in force.
* A right counts as used unless the answer is an authorization error; also if the answer is not known. Refused requests
  count nowhere, and do not affect the times of use.
* Requests of clients whose principal only the broker knows are left out: no rule can be about them.
* The rules decide in Python, after Spark has joined all requests that are alike into one row. There may be MOST rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plugins.audit.operations import needed_right
from plugins.audit.reports.expressions import is_anonymous, is_refused, resources
from plugins.audit.reports.report import CannotTellError
from proxy.plugin import APIS
from rules import Client, Operation, ResourceType, Snapshot
from rules.clients import ANONYMOUS
from rules.hosts import java_text
from rules.vocabulary import CLUSTER_NAME

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST = 200_000
WHOLE = "request"  # stands for the type of resource of a request that names none
TYPES = ("topic", "group", "share_group", "transactional_id", "broker", "broker_logger", "cluster", "user", WHOLE)
TIMES = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'"


@dataclass(frozen=True)
class Use:
    """Requests that are alike and were allowed: what they did, how often, and when."""

    client: Client
    at: float | None  # seconds since 1970; None: the rules do not ask for the time
    operation: Operation
    kind: ResourceType
    name: str
    times: int
    first: str
    last: str


def rights() -> Iterator[tuple[str, str, str, str]]:
    """For each API and type of resource: the operation, and the type of resource on which it is checked."""
    for api in APIS.values():
        for named in TYPES:
            right = needed_right(api, named)
            if right is not None:
                yield api.name, named, right.operation.word, right.kind.name.lower()


def used(events: DataFrame, *conditions: str) -> DataFrame:
    """A row for each principal, operation, resource, and combination of values of these conditions."""
    from pyspark.sql import functions as F

    from plugins.audit.reports.pipeline.values import table

    known = {
        "from": F.col("client_host"),
        "client_id": F.coalesce("client_id", F.lit("")),
        "listener": F.col("listener"),
        "mechanism": F.coalesce("mechanism", F.lit("")),
        "tls": F.col("tls").isNotNull(),
        "during": F.unix_timestamp(F.date_trunc("minute", F.coalesce("window_from", "time"))),
    }
    by = {condition: known[condition] for condition in conditions}
    who = F.coalesce("principal", F.when(is_anonymous(), ANONYMOUS))
    resource = F.col("resource")
    asked = resources(events.withColumns(by | {"principal": who}), "principal", *conditions, "api", outer=True)
    needed = table(events.sparkSession, rights(), "api STRING, type STRING, operation STRING, resource_type STRING")
    name = F.when(F.col("resource_type") == "cluster", CLUSTER_NAME).otherwise(resource["name"])
    return (
        asked.withColumn("type", F.coalesce(resource["type"], F.lit(WHOLE)))
        .join(F.broadcast(needed), ["api", "type"])
        .withColumn("resource_name", name)
        .where("principal IS NOT NULL AND resource_name IS NOT NULL")
        .where(~is_refused(resource["error"]))
        .groupBy("principal", *conditions, "operation", "resource_type", "resource_name")
        .agg(
            F.sum(F.coalesce(resource["times"], F.lit(1).cast("bigint"))).alias("times"),
            F.min("since").alias("first"),
            F.max("until").alias("last"),
        )
    )


def uses(events: DataFrame, rules: Snapshot) -> list[Use]:
    """All uses, distinguished by the conditions that these rules have. Raises CannotTellError."""
    from pyspark.sql import functions as F

    conditions = asked_of(rules)
    found = used(events, *conditions).withColumns({one: F.date_format(one, TIMES) for one in ("first", "last")})
    rows = found.limit(MOST + 1).collect()
    if len(rows) > MOST:
        alike = ", ".join(("principal", "operation", "resource", *conditions))
        way_out = "ask for a shorter period, or for some principals (--principal)"
        raise CannotTellError(f"more than {MOST:,} kinds of requests differ in {alike}; {way_out}")
    return sorted((_use(row.asDict()) for row in rows), key=repr)


def operation_of(word: str) -> Operation:
    """The operation with this name in Kafka's tools."""
    return next(operation for operation in Operation if operation.word == word)


def asked_of(rules: Snapshot) -> tuple[str, ...]:
    """The conditions that some rule has, apart from principals and resources."""
    said = {
        condition
        for rule in rules.rules
        for condition in ("from", "client_id", "listener", "mechanism", "tls", "during")
        if getattr(rule.acl, "from_" if condition == "from" else condition) is not None
    }
    return tuple(sorted(said))


def _use(row: dict[str, object]) -> Use:
    """The use in a row. Properties for which no rule has a condition are not known."""
    host, at, tls = row.get("from"), row.get("during"), row.get("tls")
    client = Client(
        str(row["principal"]),
        host=None if host is None else java_text(str(host)),
        **{name: str(row[name]) for name in ("client_id", "listener", "mechanism") if row.get(name) is not None},
        tls=None if tls is None else bool(tls),
    )
    return Use(
        client,
        None if at is None else float(str(at)),
        operation_of(str(row["operation"])),
        ResourceType[str(row["resource_type"]).upper()],
        str(row["resource_name"]),
        int(str(row["times"])),
        str(row["first"]),
        str(row["last"]),
    )
