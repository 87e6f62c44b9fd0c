"""The list of reports in `README.md` beside this module, made from their declarations.

`python -m plugins.audit.reports.listing` renews the list; a test fails when it is stale. The text above it in that page
is written by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from plugins.audit.reports.catalogue import REPORTS

PAGE = Path(__file__).with_name("README.md")
START = "| report | question | evidence for |\n|---|---|---|\n"


def table() -> str:
    """A row for each report."""
    return START + "".join(_rows())


def _rows() -> Iterator[str]:
    for report in REPORTS:
        controls: dict[str, list[str]] = {}
        for control in report.controls:
            controls.setdefault(control.framework, []).append(control.row)
        evidence = "; ".join(f"{framework} {', '.join(rows)}" for framework, rows in controls.items())
        yield f"| `{report.name}` | {report.question} | {evidence} |\n"


def renewed(page: str) -> str:
    """The page with a new table, which is its last part. Raises ValueError if it has none."""
    above, start, _ = page.partition(START)
    if not start:
        raise ValueError(f"{PAGE} has no table of reports; write its first two lines:\n{START}")
    return above + table()


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
