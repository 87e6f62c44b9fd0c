"""Hours: when a rule holds, as days, times of day and dates in one time zone.

Rules:
* All options that are given must hold. Times are [from, to): 08:00-18:00 ends before 18:00. 22:00-06:00 goes over
  midnight, and its morning belongs to the day on which it began.
* `since` is the first moment inside, `before` the first moment outside; a date alone is its midnight.
"""

import re
from datetime import datetime, tzinfo
from typing import Annotated, Any, NamedTuple
from zoneinfo import ZoneInfo, available_timezones

from pydantic import Field, PlainValidator

from proxy.text.file import Section
from proxy.text.words import nearest, nearest_word, shown, wrong
from rules.values import Given, OneOrMany, text

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
DAY = 24 * 60
UTC = ZoneInfo("UTC")
_HOURS = re.compile(r"([0-9]{1,2}):([0-9]{2})\s*-\s*([0-9]{1,2}):([0-9]{2})")


class Span(NamedTuple):
    """Part of a day, in minutes after midnight; over midnight where `end` is not after `start`."""

    start: int
    end: int


def days(value: object) -> frozenset[int]:
    """Read `Mon` or `Mon-Fri`; Monday is 0."""
    words = text(value, "day", "Mon-Fri").split("-")
    for word in words:
        if word not in DAYS:
            raise wrong(f'unknown day "{word}"', nearest(word, DAYS))
    if len(words) > 2:
        raise wrong(f"{shown(value)} has more than two ends", 'write e.g. "Mon-Fri"')
    first, last = DAYS.index(words[0]), DAYS.index(words[-1])
    return frozenset((first + n) % 7 for n in range((last - first) % 7 + 1))


def hours(value: object) -> Span:
    """Read `08:00-18:00`; the end may be 24:00."""
    match = _HOURS.fullmatch(text(value, "time of day", "08:00-18:00"))
    if match is None:
        raise wrong(f"{shown(value)} is not a time of day", 'write e.g. "08:00-18:00"')
    start, end = (int(match[n]) * 60 + int(match[n + 1]) for n in (1, 3))
    if start >= DAY or end > DAY or int(match[2]) > 59 or int(match[4]) > 59:
        raise wrong(f"{shown(value)} is no time of any day", "times are 00:00 to 24:00")
    if start == end:
        raise wrong(f"{shown(value)} begins where it ends", "leave it out for the whole day")
    return Span(start, end)


def moment(value: object) -> datetime:
    """Read `2026-01-31` or `2026-01-31T08:00`; the zone is the window's."""
    try:
        found = datetime.fromisoformat(text(value, "date", "2026-01-31"))
    except ValueError:
        raise wrong(f"{shown(value)} is not a date", 'write e.g. "2026-01-31" or "2026-01-31T08:00"') from None
    if found.tzinfo is not None:
        raise wrong(f"{shown(value)} has a zone of its own", 'leave it out, and say it once with "zone:"')
    return found


def zone(value: object) -> ZoneInfo:
    """Read a name of the IANA time zone database."""
    name = text(value, "time zone", "Europe/Zurich")
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        close = nearest_word(name, available_timezones())
        raise wrong(f'unknown time zone "{name}"', f'did you mean "{close or "Europe/Zurich"}"?') from None


Days = OneOrMany[Annotated[frozenset[int], PlainValidator(days)]]
HoursSpans = OneOrMany[Annotated[Span, PlainValidator(hours)]]
Zone = Annotated[tzinfo, PlainValidator(zone)]
HoursMoment = Annotated[datetime, PlainValidator(moment)]


class Hours(Section):
    """When a rule holds."""

    days: Given[Days] = Field(default=None, description="The days: `Mon`, `Mon-Fri`, or a list.", examples=["Mon-Fri"])
    hours: Given[HoursSpans] = Field(
        default=None, description="The times of day, or a list of them.", examples=["08:00-18:00"]
    )
    zone: Zone = Field(default=UTC, description="The time zone of days and times.", examples=["Europe/Zurich"])
    since: Given[HoursMoment] = Field(
        default=None, description="The first moment at which it holds.", examples=["2026-01-31"]
    )
    before: Given[HoursMoment] = Field(
        default=None, description="The first moment at which it holds no more.", examples=["2026-12-31"]
    )

    @property
    def is_empty(self) -> bool:
        """Whether these hours hold at no moment at all."""
        return self.since is not None and self.before is not None and self.since >= self.before

    def holds(self, at: float) -> bool:
        """Whether a moment, in seconds since 1970 UTC, is inside."""
        # Moments are compared, not readings of the clock: where a clock is put back, one reading is two moments, and
        # the first is meant. Python compares two times of one zone by their readings, so these are seconds since 1970.
        if self.since is not None and at < self.since.replace(tzinfo=self.zone).timestamp():
            return False
        if self.before is not None and at >= self.before.replace(tzinfo=self.zone).timestamp():
            return False
        aware = datetime.fromtimestamp(at, self.zone)
        minute, today = aware.hour * 60 + aware.minute, aware.weekday()
        return any(self._in(span, minute, today) for span in self.hours or (Span(0, DAY),))

    def _in(self, span: Span, minute: int, today: int) -> bool:
        if span.start < span.end:
            return span.start <= minute < span.end and self._on(today)
        if minute >= span.start:
            return self._on(today)
        return minute < span.end and self._on((today - 1) % 7)

    def _on(self, day: int) -> bool:
        return self.days is None or any(day in some for some in self.days)


def written(window: Hours) -> dict[str, Any]:
    """The hours as written in a file."""
    result: dict[str, Any] = {}
    if window.days is not None:
        result["days"] = [DAYS[day] for day in range(7) if any(day in some for some in window.days)]
    if window.hours is not None:
        result["hours"] = [f"{s // 60:02}:{s % 60:02}-{e // 60:02}:{e % 60:02}" for s, e in window.hours]
    if window.zone is not UTC:
        result["zone"] = str(window.zone)
    for name in ("since", "before"):
        if getattr(window, name) is not None:
            result[name] = getattr(window, name).isoformat()
    return result
