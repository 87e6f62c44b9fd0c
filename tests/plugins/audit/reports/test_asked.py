"""The options of a report, and mistakes in them."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from plugins.audit.reports.asked import moment, name, offset_range, principal, work_hours, zone
from plugins.audit.reports.inputs import OffsetRange, WorkHours

ZURICH = ZoneInfo("Europe/Zurich")


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-03-01", datetime(2026, 2, 28, 23, tzinfo=UTC)),
        ("2026-07-01", datetime(2026, 6, 30, 22, tzinfo=UTC)),
        ("2026-03-01T08:30", datetime(2026, 3, 1, 7, 30, tzinfo=UTC)),
        ("2026-03-01T08:30:15.5Z", datetime(2026, 3, 1, 8, 30, 15, 500_000, tzinfo=UTC)),
    ],
)
def test_a_time_is_one_of_the_zone_unless_it_says_utc(text: str, at: datetime) -> None:
    assert moment(text, ZURICH) == at


@pytest.mark.parametrize("text", ["2026-03-29T02:30", "2026-10-25T02:30"])
def test_a_time_at_which_clocks_change_is_told_in_utc(text: str) -> None:
    with pytest.raises(
        ValueError, match=r"clocks of Europe/Zurich change then; write it in UTC, as 2026-\d\d-\d\dT0.:30Z"
    ):
        moment(text, ZURICH)


@pytest.mark.parametrize(
    ("text", "zone", "at"),
    [
        ("2026-04-24", "Africa/Cairo", datetime(2026, 4, 23, 22, tzinfo=UTC)),  # there is no midnight
        ("2026-11-01", "America/Havana", datetime(2026, 11, 1, 4, tzinfo=UTC)),  # there are two
    ],
)
def test_a_day_begins_where_clocks_change_at_midnight(text: str, zone: str, at: datetime) -> None:
    assert moment(text, ZoneInfo(zone)) == at


@pytest.mark.parametrize("text", ["alice", ""])
def test_a_principal_has_a_type(text: str) -> None:
    with pytest.raises(ValueError, match=f'has no type; write "User:{text}"'):
        principal(text)
    assert principal("User:alice") == "User:alice"
    assert principal("User:*") == "User:*"


@pytest.mark.parametrize("text", ["", "a*b", "*a"])
def test_a_star_stands_at_the_end_of_a_name(text: str) -> None:
    with pytest.raises(ValueError, match="is no name"):
        name(text)
    assert name("payments-*") == "payments-*"


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "2026-13-01", "2026-02-30", "20260301", "0001-01-01", "9999-12-31", "2026-03-01T25:00"],
)
def test_what_is_no_time_is_told_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no time; write it as 2026-03-01 or 2026-03-01T08:30"):
        moment(text, ZURICH)


@pytest.mark.parametrize("text", ["", "Zurich", "../../etc/passwd", "/etc/passwd", "Europe/\0"])
def test_what_is_no_zone_is_told_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match=r"there is no time zone .*; write one as Europe/Zurich or UTC"):
        zone(text)


def test_working_hours_are_days_of_the_week_and_times_of_the_day() -> None:
    assert work_hours("Mon-Fri 08:00-18:00") == WorkHours()
    assert work_hours("Sat 09:30-24:00") == WorkHours((5,), 570, 1440)
    assert work_hours("00:00-12:00") == WorkHours((0, 1, 2, 3, 4, 5, 6), 0, 720)


@pytest.mark.parametrize(
    "text", ["", "8-18", "Mo-Fr 08:00-18:00", "Fri-Mon 08:00-18:00", "18:00-08:00", "08:00-25:00", "08:75-09:00"]
)
def test_what_is_no_working_time_is_told_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match='write it as "Mon-Fri 08:00-18:00"'):
        work_hours(text)


def test_records_are_named_by_topic_partition_and_offsets() -> None:
    assert offset_range("my-topic-0:100-200") == OffsetRange("my-topic", 0, 100, 200)
    assert offset_range("orders:7-7") == OffsetRange("orders", None, 7, 7)


@pytest.mark.parametrize(
    "text", ["", "orders", "orders-0", "orders-0:5", "orders-0:9-5", "orders-0:0-9223372036854775808"]
)
def test_what_is_no_range_of_offsets_is_told_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="write it as orders-0:100-200"):
        offset_range(text)
