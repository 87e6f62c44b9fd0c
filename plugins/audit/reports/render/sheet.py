"""A sheet: the result of one pass over the rows of a report: its CSV file, the rows of the page, its charts.

Memory is bounded, however many rows there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.render.svg import OTHERS
from plugins.audit.reports.render.written import csv_line, cut
from plugins.audit.reports.report import AuditReport, CannotTellError, Chart, Row

SHOWN = 100  # rows in the page
KNOWN = 1_000  # rows from which a summary is made
MOST_KEPT = 100_000  # rows from which further files are made
MOST_SUMS = 100_000  # sums of a chart
NEEDED = {
    "rules": "it needs a file of ACL rules to compare with; give one with --rules FILE.",
    "tags": "it needs a file that says which topics are sensitive; give one with --tags FILE.",
}


@dataclass
class Sheet:
    """The result of one report. `first` are its first rows, `sums` the sums of each of its charts.

    `numbers`: for each x and by of a chart, the number of the first row in the page that has them, from 1 on.
    """

    report: AuditReport
    first: list[Row] = field(default_factory=list)
    total: int = 0
    sums: dict[Chart, dict[tuple[str, str], int]] = field(default_factory=dict)
    numbers: dict[Chart, dict[tuple[str, str], int]] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    left_out: str = ""  # why there are no further files
    missing: str = ""  # why there is no answer at all
    redacted: str = ""  # which of its names are redacted

    def row(self, chart: Chart, x: str | None, by: str | None) -> str:
        """The id of the first row in the page with this x and by (None: any). If there is none: the id of all rows."""
        found = (
            number for (one, other), number in self.numbers[chart].items() if x in (None, one) and (by in (None, other))
        )
        number = min(found, default=None)
        return f"{self.report.name}-rows" if number is None else f"{self.report.name}-row-{number}"

    @property
    def summary(self) -> str:
        """The answer in a sentence or two."""
        if self.missing:
            return f"There is no answer: {self.missing}"
        rows = [{name: cut(value) for name, value in row.items()} for row in self.first]
        text = self.report.summary(rows, self.total)
        return text if self.total <= KNOWN else f"{text} (Counted in the first {KNOWN:,} of {self.total:,} rows.)"


def write_sheet(out: Path, report: AuditReport, rows: Iterable[Sequence[Any]], inputs: Inputs) -> Sheet:
    """Write the rows of a report, in their order, as `out/NAME.csv`, and its further files. Raises OSError."""
    sheet = Sheet(
        report,
        sums={chart: {} for chart in report.charts},
        numbers={chart: {} for chart in report.charts},
        redacted=redacted_text(report, inputs),
    )
    kept: list[Row] = []
    with open(out / f"{report.name}.csv", "w", encoding="utf-8", newline="") as opened:
        opened.write(csv_line(report.names))
        for values in rows:
            row = dict(zip(report.names, values, strict=True))
            opened.write(csv_line(values))
            sheet.total += 1
            if sheet.total <= KNOWN:
                sheet.first.append(row)
            if report.files is not None and sheet.total <= MOST_KEPT:
                kept.append(row)
            for chart, sums in sheet.sums.items():
                key = _key(chart, row)
                _add(key, row[chart.y], sums)
                if sheet.total <= SHOWN and row[chart.y]:
                    sheet.numbers[chart].setdefault(key, sheet.total)
    _write_files(out, sheet, kept, inputs)
    return sheet


def redacted_text(report: AuditReport, inputs: Inputs) -> str:
    """The text on redacted names of a report; empty: none. Raises CannotTellError if the report needs these names."""
    redacted = {kind: events for kind, events in inputs.facts.redacted if kind in report.kinds_of_names}
    needed = [kind for kind, _ in inputs.facts.redacted if kind in report.compares]
    if needed:
        raise CannotTellError(
            f"it compares names, and the journal redacts some of the period: {', '.join(needed)}; have it made of a "
            "period, or of a journal, that has them as they are."
        )
    if not redacted:
        return ""
    counts = ", ".join(f"{kind} in {events:,} events" for kind, events in redacted.items())
    return (
        f"The journal redacts names of this report: {counts} of the period. A pseudonym (hmac-...) "
        "stands for one name, as long as its key does not change; what is masked (***, a network) "
        "or empty may stand for many, which are counted as one."
    )


def not_made(report: AuditReport, why: str) -> Sheet:
    """The sheet of a report that could not be made."""
    return Sheet(report, missing=why)


def _write_files(out: Path, sheet: Sheet, rows: Sequence[Row], inputs: Inputs) -> None:
    if sheet.report.files is None:
        return
    if sheet.total > MOST_KEPT:
        sheet.left_out = (
            f"There are more than {MOST_KEPT:,} rows: ask for fewer principals or topics to have its files."
        )
        return
    files = sheet.report.files(rows, inputs)
    for name, text in files.items():
        (out / name).write_text(text, encoding="utf-8")
    sheet.files = tuple(files)


def _key(chart: Chart, row: Mapping[str, Any]) -> tuple[str, str]:
    return _label(row[chart.x]), _label(row[chart.by]) if chart.by else ""


def _add(key: tuple[str, str], y: int | None, sums: dict[tuple[str, str], int]) -> None:
    if key not in sums and len(sums) >= MOST_SUMS:
        key = OTHERS, OTHERS
    sums[key] = sums.get(key, 0) + (y or 0)


def _label(value: Any) -> str:
    return "none" if value is None else str(value)
