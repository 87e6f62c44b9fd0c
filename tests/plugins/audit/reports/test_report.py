"""Declarations of reports."""

import pytest

from plugins.audit.reports.report import AuditReport, ReportColumn, some, users


def test_rows_are_sorted_by_what_is_said_and_then_by_every_other_column() -> None:
    columns = tuple(ReportColumn(name, "BIGINT", "A number.") for name in ("a", "b", "c"))
    report = AuditReport(
        "it", "It", "?", columns, ("-c", "a"), (), lambda events, inputs: events, lambda rows, total: ""
    )
    assert report.sorting == (("c", True), ("a", False), ("b", False))


@pytest.mark.parametrize(("many", "words"), [(0, "0 users"), (1, "1 user"), (2_000, "2,000 users")])
def test_one_is_not_several(many: int, words: str) -> None:
    assert some(many, "user") == words


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ([], "0 users"),
        (["User:a", "User:b", "User:a"], "2 users"),
        (["User:a", None], "1 user and clients without a name"),
        ([None], "clients without a name"),
    ],
)
def test_clients_without_a_name_are_no_user(names: list[str | None], words: str) -> None:
    assert users({"principal": name} for name in names) == words


def test_a_table_has_no_columns_that_a_csv_could_not_hold() -> None:
    with pytest.raises(AssertionError):
        ReportColumn("many", "ARRAY<STRING>", "Several.")
