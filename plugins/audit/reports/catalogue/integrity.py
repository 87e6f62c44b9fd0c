"""The files from which the reports are made, and the proof that they are as they were written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from plugins.audit.reports.controls import hipaa, iso27001, pci, soc2
from plugins.audit.reports.facts import JournalFacts
from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.report import AuditReport, ReportColumn, Row, Scope, some

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COLUMNS = (
    ReportColumn("file", "STRING", "The file, in the folder of the journal."),
    ReportColumn(
        "state", "STRING", "sealed, altered, no seal, being written, not checked; remark: no segment of the period."
    ),
    ReportColumn(
        "first", "BIGINT", "The number of its first event, as its seal says; of a remark, the first it is about."
    ),
    ReportColumn("last", "BIGINT", "The number of its last event."),
    ReportColumn("sha256", "STRING", "The hash of the file as it was read."),
    ReportColumn("remark", "STRING", "What is wrong with which events of it, or missing by the journal's account."),
)


def rows(events: DataFrame, inputs: Inputs) -> DataFrame:
    """A row for each segment, and for each remark on another file."""
    from plugins.audit.reports.pipeline.values import table

    ddl = ", ".join(f"`{column.name}` {column.type}" for column in COLUMNS)
    return table(events.sparkSession, told(inputs.facts), ddl)


def told(facts: JournalFacts) -> Iterator[tuple[Any, ...]]:
    """The rows of the report."""
    remarks: dict[str, list[str]] = {}
    for remark in facts.remarks:
        remarks.setdefault(remark.place, []).append(": ".join(filter(None, (remark.events, remark.what))))
    for one in facts.segments:
        said = "; ".join(remarks.get(one.path, ()))
        yield one.path, one.state, one.first, one.last, one.sha256 or None, said or None
    segments = {one.path for one in facts.segments}
    for remark in facts.remarks:
        if remark.place not in segments:
            yield remark.place, "remark", remark.first, remark.last, None, remark.what


def summary(rows: Sequence[Row], total: int) -> str:
    """The answer in a sentence or two."""
    sealed = sum(row["state"] == "sealed" and row["remark"] is None for row in rows)
    others = sum(row["state"] not in ("sealed", "being written") or row["remark"] is not None for row in rows)
    if not total:
        return "The journal has no segment of this period."
    if any(row["state"] == "not checked" for row in rows):
        return "Nothing was checked, since a topic has no seals. Those of the journal prove its events."
    if not others:
        return (
            f"Hash, signature and chain of {some(sealed, 'sealed file')} are right: nothing else is said of any file."
        )
    return f"As written: {some(sealed, 'file')}. Not proven, or with a remark: {others:,}."


REPORT = AuditReport(
    name="integrity",
    title="Integrity certificate",
    question="Are the records as they were written, and how can that be checked?",
    explanation="Each file has a seal: its hash, signed, and chained to the seal before it. `doorkeeper audit verify "
    "JOURNAL --key KEY` checks all of it again; `sha256sum` the hashes alone. The keys that signed are at the top of "
    "the page: compare them with the one that you were given by another way.",
    columns=COLUMNS,
    order=("state", "file", "first"),
    controls=(
        pci("10.3.2", "Files of the record are protected from change: each change is found."),
        pci("10.3.4", "Hashes and signatures that detect change."),
        soc2("CC7.1", "Changes to the record are detected."),
        hipaa("164.312(c)(1)", "The record was not altered or destroyed unseen."),
        iso27001("A.8.15", "Logs are protected against tampering."),
    ),
    rows=rows,
    summary=summary,
    scope=Scope.PERIOD,
)
