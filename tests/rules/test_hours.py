"""The hours in which a rule holds."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from pydantic import ValidationError

from rules.hours import Hours, written


def window(**options: Any) -> Hours:
    return Hours.model_validate(options)


def at(text: str, zone: str = "UTC") -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()


# 2026-11-20 is a Friday.
@pytest.mark.parametrize(
    ("options", "moment", "holds"),
    [
        ({}, "2026-11-20T00:00", True),
        ({"hours": "08:00-18:00"}, "2026-11-20T08:00", True),
        ({"hours": "08:00-18:00"}, "2026-11-20T07:59:59", False),
        ({"hours": "08:00-18:00"}, "2026-11-20T18:00", False),
        ({"hours": "08:00-24:00"}, "2026-11-20T23:59:59", True),
        ({"hours": ("08:00-10:00", "12:00-14:00")}, "2026-11-20T13:00", True),
        ({"hours": ("08:00-10:00", "12:00-14:00")}, "2026-11-20T11:00", False),
        ({"days": "Mon-Fri"}, "2026-11-20T12:00", True),
        ({"days": "Mon-Fri"}, "2026-11-21T12:00", False),
        ({"days": "Sat-Mon"}, "2026-11-22T12:00", True),
        ({"days": ("Mon", "Fri")}, "2026-11-20T12:00", True),
        ({"days": "Fri", "hours": "22:00-06:00"}, "2026-11-20T23:00", True),
        ({"days": "Fri", "hours": "22:00-06:00"}, "2026-11-21T05:00", True),
        ({"days": "Fri", "hours": "22:00-06:00"}, "2026-11-20T05:00", False),
        ({"days": "Fri", "hours": "22:00-06:00"}, "2026-11-20T12:00", False),
        ({"since": "2026-11-20"}, "2026-11-20T00:00", True),
        ({"since": "2026-11-20"}, "2026-11-19T23:59:59", False),
        ({"before": "2026-11-20T12:00"}, "2026-11-20T11:59:59", True),
        ({"before": "2026-11-20T12:00"}, "2026-11-20T12:00", False),
    ],
)
def test_a_window_holds_the_moments_inside(options: dict[str, Any], moment: str, holds: bool) -> None:
    assert window(**options).holds(at(moment)) is holds


def test_a_window_is_in_its_own_zone() -> None:
    morning = window(hours="08:00-09:00", zone="Europe/Zurich")
    assert morning.holds(at("2026-11-20T08:30", "Europe/Zurich"))
    assert morning.holds(at("2026-11-20T07:30"))
    assert not morning.holds(at("2026-11-20T08:30"))


def test_an_hour_that_comes_twice_is_two_moments() -> None:
    twice = datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Zurich"))
    first = window(before="2026-10-25T02:30", zone="Europe/Zurich")
    assert not first.holds(twice.timestamp())
    assert not first.holds(twice.replace(fold=1).timestamp())


@pytest.mark.parametrize(
    ("moment", "ended"), [("00:15", False), ("00:45", True), ("01:15", True), ("01:45", True), ("02:15", True)]
)
def test_what_has_ended_does_not_begin_again_when_clocks_are_put_back(moment: str, ended: bool) -> None:
    reading = "2026-10-25T02:30"
    now = at(f"2026-10-25T{moment}")
    assert window(before=reading, zone="Europe/Zurich").holds(now) is not ended
    assert window(since=reading, zone="Europe/Zurich").holds(now) is ended


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/Los_Angeles"])
def test_the_first_and_the_last_year_can_be_said(zone: str) -> None:
    assert window(since="0001-01-01", before="9999-12-31T23:59", zone=zone).holds(at("2026-11-20T12:00"))


@pytest.mark.parametrize(
    "options",
    [
        {"days": "Mo"},
        {"days": "Mon-Wed-Fri"},
        {"hours": "8-18"},
        {"hours": "08:00-25:00"},
        {"hours": "08:60-09:00"},
        {"hours": "08:00-08:00"},
        {"zone": "Europe/Zürich"},
        {"zone": "../etc"},
        {"since": "tomorrow"},
        {"since": "2026-11-20T00:00+01:00"},
        {"until": "2026-11-20"},
    ],
)
def test_what_is_no_window_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        window(**options)


def test_a_window_without_a_moment_is_empty() -> None:
    assert window(since="2026-11-20", before="2026-11-20").is_empty
    assert not window(since="2026-11-20").is_empty


def test_a_window_is_written_as_it_was_read() -> None:
    options = {
        "days": ("Sat", "Sun", "Mon-Tue"),
        "hours": ("08:00-12:30", "22:00-06:00"),
        "zone": "Europe/Zurich",
        "since": "2026-01-31",
        "before": "2026-12-31T08:00",
    }
    again = window(
        **{name: tuple(it) if isinstance(it, list) else it for name, it in written(window(**options)).items()}
    )
    assert written(again) == written(window(**options))
    assert written(again)["days"] == ["Mon", "Tue", "Sat", "Sun"]
    assert written(window()) == {}
