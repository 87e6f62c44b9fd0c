"""Which requests of clients the rules of a file would have refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from plugins.audit.reports.controls import iso27001, soc2
from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.report import RESOURCES, AuditReport, Chart, ChartKind, ReportColumn, Row, some, users
from plugins.audit.reports.used import Use, uses
from rules import RuleDecision, Snapshot

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def rows(events: DataFrame, inputs: Inputs) -> DataFrame:
    """A row for each right that was used and would be refused."""
    from plugins.audit.reports.pipeline.values import table

    assert inputs.rules is not None  # which this report needs
    found = _refused(uses(events, inputs.rules), inputs.rules, inputs.rules_file)
    return table(events.sparkSession, found, REPORT.ddl)


def _refused(of: Sequence[Use], rules: Snapshot, file: str) -> Iterator[tuple[Any, ...]]:
    """One row for each right and reason, for all clients that differ only in other properties."""
    alike: dict[tuple[Any, ...], list[Use]] = {}
    for use in of:
        decision = rules.decide(use.client, use.operation, use.kind, use.name, use.at)
        if not decision.allowed:
            key = _what(use), (_place(decision, file), decision.why.value)
            alike.setdefault(key, []).append(use)
    for (what, why), those in alike.items():
        first, last = min(use.first for use in those), max(use.last for use in those)
        yield *what, sum(use.times for use in those), first, last, *why


def _what(use: Use) -> tuple[str | None, ...]:
    kind = use.kind.name.lower()
    return use.client.principal, use.client.host, use.client.client_id, use.operation.word, kind, use.name


def _place(decision: RuleDecision, file: str) -> str | None:
    return None if decision.place is None else f"{file}:{decision.place.line}:{decision.place.column}"


def summary(rows: Sequence[Row], total: int) -> str:
    """The answer in a sentence or two."""
    if not total:
        return "The rules allow everything that was used."
    return f"The rules would have refused {some(total, 'right')} that {users(rows)} used."


REPORT = AuditReport(
    name="simulation",
    title="What the rules would refuse",
    question="If the rules in the file had been in force, which actions of users would they have refused?",
    explanation="Each request of the journal is decided anew by the rules of the file. What was refused when it "
    "happened is not told here. A host or a client id is told where some rule asks for it.",
    columns=(
        ReportColumn("principal", "STRING", "Who would be refused."),
        ReportColumn("client_host", "STRING", "From where; none where no rule asks for that."),
        ReportColumn("client_id", "STRING", "What the client calls itself; none where no rule asks for that."),
        ReportColumn("operation", "STRING", "What it did, in Kafka's words: Read, Write, Describe."),
        ReportColumn("resource_type", "STRING", "With what: topic, group, transactional_id, cluster."),
        ReportColumn("resource_name", "STRING", "Its name."),
        ReportColumn("times", "BIGINT", "How often it did so; each partition of a topic counts.", "times"),
        ReportColumn("first", "TIMESTAMP", "When it did so first.", "UTC"),
        ReportColumn("last", "TIMESTAMP", "When it did so last.", "UTC"),
        ReportColumn("rule", "STRING", "The rule that refuses it, as file:line:column; none where none allows it."),
        ReportColumn("why", "STRING", "Why it is refused."),
    ),
    order=("-times", "principal", "resource_type", "resource_name", "operation"),
    controls=(
        soc2("CC6.1", "What a change of the rules would do, before it is made."),
        iso27001("A.5.18", "Input to a review of rights of access, before they are changed."),
    ),
    compares=("principal", "client_host", "client_id", *RESOURCES),
    rows=rows,
    summary=summary,
    charts=(Chart("Refused, by user", ChartKind.BARS, "principal", "times"),),
    needs="rules",
)
