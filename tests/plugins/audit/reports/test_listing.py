"""The list of reports in their page."""

import pytest

from plugins.audit.reports.catalogue import REPORTS
from plugins.audit.reports.listing import PAGE, renewed, table


def test_the_page_is_up_to_date() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == renewed(page), "run: python -m plugins.audit.reports.listing"


def test_every_report_is_in_it_with_its_controls() -> None:
    for report in REPORTS:
        assert f"| `{report.name}` | {report.question} | " in table()
        assert all(control.row in table() for control in report.controls)


def test_a_page_without_a_table_is_not_overwritten() -> None:
    with pytest.raises(ValueError, match="has no table of reports"):
        renewed("# Reports\n")
