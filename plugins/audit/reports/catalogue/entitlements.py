"""The rights that the rules grant, which of them were used, and which never were."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from plugins.audit.reports.controls import hipaa, iso27001, pci, soc2
from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.report import RESOURCES, AuditReport, ReportColumn, Row, some
from plugins.audit.reports.used import Use, uses
from rules import Operation, ResourceType, Rule, Snapshot
from rules.pattern_index import PatternIndex
from rules.values import Pattern
from rules.vocabulary import EVERYBODY, PatternType, Permission, answers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NEVER, IMPLIED, USED = "never used", "only to describe", "used"


@dataclass(eq=False)
class Grant:
    """One right of one principal that a rule grants, with its uses."""

    rule: Rule
    principal: str
    operation: Operation
    kind: ResourceType
    pattern: Pattern
    times: int = 0
    implied: int = 0
    names: set[str] = field(default_factory=set)
    last: str | None = None

    def credit(self, use: Use) -> None:
        """Count a use, if this right covers it."""
        if not self.rule.admits(use.client, use.at):
            return
        if self.operation in (use.operation, Operation.ALL):
            self.times += use.times
        elif answers(Permission.ALLOW, self.operation) & 1 << use.operation:
            self.implied += use.times
        else:
            return
        self.names.add(use.name)
        self.last = max(self.last or "", use.last)

    @property
    def state(self) -> str:
        return USED if self.times else IMPLIED if self.implied else NEVER


def rows(events: DataFrame, inputs: Inputs) -> DataFrame:
    """A row for each right that a rule grants."""
    from plugins.audit.reports.pipeline.values import table

    assert inputs.rules is not None  # which this report needs
    grants = granted(inputs.rules)
    _credit(grants, uses(events, inputs.rules))
    return table(events.sparkSession, _told(grants, inputs.rules_file), REPORT.ddl)


def granted(rules: Snapshot) -> list[Grant]:
    """Every right that the rules grant, one by one. Super users need none, so theirs are not listed."""
    return [
        Grant(rule, principal, operation, kind, pattern)
        for rule in rules.rules
        if not rule.deny
        for principal in rule.acl.principals
        for operation in rule.acl.to
        for kind, pattern in rule.acl.resources()
    ]


def _credit(grants: Iterable[Grant], of: Iterable[Use]) -> None:
    indexes: dict[tuple[str, ResourceType], PatternIndex[Grant]] = {}
    for grant in grants:
        indexes.setdefault((grant.principal, grant.kind), PatternIndex()).put(grant.pattern, grant)
    for index in indexes.values():
        index.close()
    for use in of:
        for principal in (use.client.principal, EVERYBODY):
            index = indexes.get((principal, use.kind), PatternIndex())
            for grant in dict.fromkeys(index.about(use.name)):
                grant.credit(use)


def _told(grants: Iterable[Grant], file: str) -> Iterator[tuple[Any, ...]]:
    for one in grants:
        pattern = one.pattern.name + ("*" if one.pattern.type is PatternType.PREFIXED else "")
        hosts = ", ".join(host.text for host in one.rule.acl.from_ or ()) or None
        place = f"{file}:{one.rule.place.line}:{one.rule.place.column}"
        what = one.principal, one.operation.word, one.kind.name.lower(), pattern, hosts, place
        yield *what, one.state, one.times, one.implied, len(one.names), one.last


def summary(rows: Sequence[Row], total: int) -> str:
    """The answer in a sentence or two."""
    unused = sum(row["state"] == NEVER for row in rows)
    if not total:
        return "The rules grant nothing."
    many = f"{unused:,} or more" if unused == len(rows) < total else f"{unused:,}"
    return f"The rules grant {some(total, 'right')}. Never used in the period: {many}."


REPORT = AuditReport(
    name="entitlements",
    title="Rights granted, and rights used",
    question="Which rights do users have that they never used?",
    explanation="A right that was not used in the period may still be needed, as once a year. A right of several rules "
    "counts as used in each of them. The rights of super users, who may do everything, are not listed.",
    columns=(
        ReportColumn("principal", "STRING", "Who has the right; User:* is everybody."),
        ReportColumn("operation", "STRING", "To do what, in Kafka's words."),
        ReportColumn("resource_type", "STRING", "With what: topic, group, transactional_id, cluster."),
        ReportColumn("resource_pattern", "STRING", "Its name; with a * behind it, the beginning of names."),
        ReportColumn("client_hosts", "STRING", "From where; none: from anywhere."),
        ReportColumn("rule", "STRING", "The rule that grants it, as file:line:column."),
        ReportColumn("state", "STRING", f"{USED}, {IMPLIED} (the right to describe that comes with it), or {NEVER}."),
        ReportColumn("times", "BIGINT", "How often it was used; each partition of a topic counts.", "times"),
        ReportColumn("implied", "BIGINT", "How often only the right to describe that comes with it was.", "times"),
        ReportColumn("names", "BIGINT", "With how many different resources.", "names"),
        ReportColumn("last", "TIMESTAMP", "When it was used last.", "UTC"),
    ),
    order=("times", "implied", "principal", "resource_type", "resource_pattern", "operation"),
    controls=(
        pci("7.2.4", "Rights of users and whether they are used, for the review of every six months."),
        soc2("CC6.2", "Rights that nobody uses, to be taken away."),
        soc2("CC6.3", "Rights compared with their use."),
        iso27001("A.5.18", "A review of rights of access."),
        hipaa("164.308(a)(4)", "Rights compared with their use, to modify a user's access."),
    ),
    compares=("principal", "client_host", *RESOURCES),
    rows=rows,
    summary=summary,
    needs="rules",
)
