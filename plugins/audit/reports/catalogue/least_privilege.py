"""A proposal: the rules that would allow exactly the rights that were used, as a file that can be checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from plugins.audit.reports.controls import hipaa, iso27001, soc2
from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.report import RESOURCES, AuditReport, ReportColumn, Row, some, users
from plugins.audit.reports.used import operation_of, used
from rules import Operation, ResourceType
from rules.bindings import Binding
from rules.bindings import rules as rules_of
from rules.model import AclFile
from rules.values import Pattern
from rules.vocabulary import EVERYBODY, IMPLIES_DESCRIBE, WILDCARD, PatternType, Permission
from rules.write import file_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FILE = "acl-proposal.yaml"


def rows(events: DataFrame, inputs: Inputs) -> DataFrame:
    """A row for each right that was used."""
    return used(events)


def summary(rows: Sequence[Row], total: int) -> str:
    """The answer in a sentence or two."""
    if not total:
        return "No right was used, so that there is nothing to propose."
    used_by = users(rows).capitalize()
    return f"{used_by} used {some(total, 'right')}. {FILE} has the rules that allow these, and nothing else."


def files(rows: Sequence[Row], inputs: Inputs) -> Mapping[str, str]:
    """The rules, as `doorkeeper check` accepts them."""
    said = [row for row in rows if row["resource_name"] != WILDCARD and row["principal"] != EVERYBODY]
    file = AclFile.model_construct(super_users=(), unmatched="deny", acls=tuple(rules_of(_needed(said))))
    head = "# Proposed by doorkeeper report: what was used is allowed, and nothing else.\n"
    if left_out := len(rows) - len(said):
        head += f"# {left_out:,} rights are left out: their user or resource is called *, which here would mean all.\n"
    return {FILE: head + file_text(file)}


def _needed(rows: Iterable[Row]) -> Iterable[Binding]:
    """A binding for each row, but not for Describe where another right implies it."""
    found = {
        (row["principal"], row["resource_type"], row["resource_name"], operation_of(row["operation"])) for row in rows
    }
    for principal, kind, name, operation in found:
        implied = operation is Operation.DESCRIBE and any(
            (principal, kind, name, other) in found for other in IMPLIES_DESCRIBE
        )
        if not implied:
            pattern = Pattern(PatternType.LITERAL, name)
            yield Binding(ResourceType[kind.upper()], pattern, principal, WILDCARD, operation, Permission.ALLOW)


REPORT = AuditReport(
    name="least_privilege",
    title="Least privilege: a proposal",
    question="Which rights do users really use, and what would the rules be that allow just these?",
    explanation="The rules are a proposal. What somebody does once a year is missing where the period is a month. They "
    "hold from any host. Requests whose user only the broker knows are not in them, nor is a group or user that is "
    "called *: in a rule that would mean every one.",
    columns=(
        ReportColumn("principal", "STRING", "Who used the right."),
        ReportColumn("operation", "STRING", "What it did, in Kafka's words: Read, Write, Describe."),
        ReportColumn("resource_type", "STRING", "With what: topic, group, transactional_id, cluster."),
        ReportColumn("resource_name", "STRING", "Its name."),
        ReportColumn("times", "BIGINT", "How often; each partition of a topic counts.", "times"),
        ReportColumn("first", "TIMESTAMP", "When it was used first.", "UTC"),
        ReportColumn("last", "TIMESTAMP", "When it was used last.", "UTC"),
    ),
    order=("principal", "resource_type", "resource_name", "operation"),
    controls=(
        soc2("CC6.3", "Rights that are in use, as the basis for taking the others away."),
        iso27001("A.5.18", "Input to a review of rights of access."),
        iso27001("A.8.3", "A proposal that restricts access to what is used."),
        hipaa("164.312(a)(1)", "Input to rules that let in only those who were granted a right."),
    ),
    compares=("principal", *RESOURCES),
    rows=rows,
    summary=summary,
    further=(FILE,),
    files=files,
)
