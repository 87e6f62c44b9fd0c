"""One pass over the rows of a report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from plugins.audit.reports.render import sheet as sheets
from plugins.audit.reports.render.sheet import KNOWN, SHOWN, write_sheet
from plugins.audit.reports.render.svg import OTHERS
from plugins.audit.reports.report import AuditReport, CannotTellError, Chart, ChartKind, ReportColumn
from tests.plugins.audit.reports.asked import INPUTS

CHART = Chart("Much", ChartKind.BARS, "who", "much")
REPORT = AuditReport(
    "it",
    "It",
    "What?",
    (ReportColumn("who", "STRING", "Somebody."), ReportColumn("much", "BIGINT", "So much.")),
    ("-much",),
    (),
    lambda events, inputs: events,
    lambda rows, total: f"{len(rows)} of {total}",
    charts=(CHART,),
    files=lambda rows, inputs: {"it.txt": "".join(f"{row['who']}\n" for row in rows)},
)


def test_all_rows_are_in_the_csv_and_in_the_charts_and_the_first_in_the_page(tmp_path: Path) -> None:
    sheet = write_sheet(tmp_path, REPORT, ((f"u{number % 3}", 1) for number in range(KNOWN + 5)), INPUTS)
    assert len((tmp_path / "it.csv").read_bytes().splitlines()) == 1 + KNOWN + 5
    assert sheet.sums[CHART] == {("u0", ""): 335, ("u1", ""): 335, ("u2", ""): 335}
    assert sheet.summary == f"{KNOWN} of {KNOWN + 5} (Counted in the first 1,000 of 1,005 rows.)"
    assert len((tmp_path / "it.txt").read_text().splitlines()) == KNOWN + 5


def test_what_is_kept_is_bounded_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheets, "MOST_KEPT", 5)
    monkeypatch.setattr(sheets, "MOST_SUMS", 3)
    sheet = write_sheet(tmp_path, REPORT, ((f"u{number}", 1) for number in range(10)), INPUTS)
    assert "more than 5 rows" in sheet.left_out
    assert not (tmp_path / "it.txt").exists()
    assert sum(sheet.sums[CHART].values()) == 10
    assert len(sheet.sums[CHART]) == 4


def test_a_figure_leads_to_the_first_row_that_it_counts_or_to_all_where_the_page_does_not_have_it(
    tmp_path: Path,
) -> None:
    rows = [("nobody", 0), ("a", 1), ("b", 2), ("a", 3), *((f"u{number}", 1) for number in range(SHOWN))]
    sheet = write_sheet(tmp_path, REPORT, rows, INPUTS)
    assert sheet.row(CHART, "a", None) == "it-row-2"
    assert sheet.row(CHART, "b", "") == "it-row-3"
    for other in ("nobody", f"u{SHOWN - 1}", OTHERS):
        assert sheet.row(CHART, other, None) == "it-rows"


def test_null_is_a_label_of_its_own_and_adds_nothing(tmp_path: Path) -> None:
    sheet = write_sheet(tmp_path, replace(REPORT, files=None), [(None, None), (None, 2)], INPUTS)
    assert sheet.sums[CHART] == {("none", ""): 2}


def test_a_report_says_which_of_its_names_are_redacted(tmp_path: Path) -> None:
    facts = replace(INPUTS.facts, redacted=(("principal", 1_200), ("topic", 7)))
    report = replace(REPORT, columns=(ReportColumn("principal", "STRING", "Who."), REPORT.columns[1]), charts=())
    sheet = write_sheet(tmp_path, replace(report, files=None), [("User:***", 1)], replace(INPUTS, facts=facts))
    assert sheet.redacted.startswith(
        "The journal redacts names of this report: principal in 1,200 events of the period."
    )
    assert not write_sheet(tmp_path, REPORT, [("a", 1)], replace(INPUTS, facts=facts)).redacted


def test_a_report_that_compares_names_gives_no_answer_where_they_are_redacted(tmp_path: Path) -> None:
    report = replace(REPORT, compares=("topic", "group"))
    assert write_sheet(tmp_path, report, [("a", 1)], INPUTS).total == 1
    facts = replace(INPUTS.facts, redacted=(("principal", 1_200), ("topic", 7)))
    with pytest.raises(CannotTellError, match="redacts some of the period: topic; have it made of a period"):
        write_sheet(tmp_path, report, [("a", 1)], replace(INPUTS, facts=facts))
