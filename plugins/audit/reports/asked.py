"""Asked: reads the options of a report into values. An error says what is wrong, and a way out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from plugins.audit.reports.inputs import OffsetRange, WorkHours
from proxy.plugin.files import nearest

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
YEARS = range(1970, 2201)  # of events; others are mistakes, or too near to the limits of a datetime
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,6})?)?Z?)?")
_HOURS = re.compile(r"(?:([A-Z][a-z]{2})(?:-([A-Z][a-z]{2}))? )?(\d\d):([0-5]\d)-(\d\d):([0-5]\d)", re.ASCII)
_OFFSETS = re.compile(r"(?P<topic>[\w.-]+?)(?:-(?P<partition>\d+))?:(?P<first>\d+)-(?P<last>\d+)")


def zone(text: str) -> ZoneInfo:
    """A time zone by its name. Raises ValueError."""
    try:
        return ZoneInfo(text)
    except (LookupError, OSError, ValueError):
        raise ValueError(f'there is no time zone "{text}"; write one as Europe/Zurich or UTC') from None


def name(text: str, known: Iterable[str] = ()) -> str:
    """A name, or the beginning of names and a `*`; one of those that are known, if these are. Raises ValueError."""
    names = set(known)
    if not text or "*" in text[:-1]:
        raise ValueError(f'"{text}" is no name; write one, or the beginning of names with a `*` behind it')
    if names and text not in names and not (text[-1] == "*" and any(one.startswith(text[:-1]) for one in names)):
        raise ValueError(f'there is no "{text}"; {nearest(text, names)}')
    return text


def principal(text: str) -> str:
    """A principal's name, or the beginning of names and a `*`. Raises ValueError."""
    if ":" not in text and "*" not in text:
        raise ValueError(f'"{text}" has no type; write "User:{text}"')
    return name(text)


def moment(text: str, zone: ZoneInfo) -> datetime:
    """The beginning of a day, or a time, in this zone; in UTC if it ends with a Z. Raises ValueError."""
    try:
        if not _MOMENT.fullmatch(text):
            raise ValueError
        at = datetime.fromisoformat(text)
        if at.year not in YEARS:
            raise ValueError
        found = (at if at.tzinfo else at.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(f'"{text}" is no time; write it as 2026-03-01 or 2026-03-01T08:30') from None
    if at.tzinfo is None and "T" in text and not _is_once(at, zone):
        raise ValueError(
            f'"{text}" is twice or not at all, since clocks of {zone.key} change then; write it in UTC, as '
            f"{found:%Y-%m-%dT%H:%MZ}"
        )
    return found


def _is_once(at: datetime, zone: ZoneInfo) -> bool:
    """Does a clock of this zone show it once?"""
    first, second = at.replace(tzinfo=zone), at.replace(tzinfo=zone, fold=1)
    return first.utcoffset() == second.utcoffset()


def work_hours(text: str) -> WorkHours:
    """Working hours: `Mon-Fri 08:00-18:00`, or every day `08:00-18:00`. Raises ValueError."""
    found = _HOURS.fullmatch(text)
    if found is None or not {found[1], found[2]} <= {*DAYS, None}:
        raise ValueError(f'"{text}" is no working time; write it as "Mon-Fri 08:00-18:00"')
    first = DAYS.index(found[1]) if found[1] else 0
    last = DAYS.index(found[2] or found[1]) if found[1] else 6
    start, end = int(found[3]) * 60 + int(found[4]), int(found[5]) * 60 + int(found[6])
    if not (first <= last and start < end <= 24 * 60):
        raise ValueError(f'"{text}" begins after its end; write it as "Mon-Fri 08:00-18:00"')
    return WorkHours(tuple(range(first, last + 1)), start, end)


def offset_range(text: str) -> OffsetRange:
    """Records of a topic: `orders-0:100-200` of one partition, `orders:100-200` of any. Raises ValueError."""
    found = _OFFSETS.fullmatch(text)
    if found is None or int(found["first"]) > int(found["last"]) or int(found["last"]) >= 1 << 63:
        raise ValueError(f'"{text}" is no range of offsets; write it as orders-0:100-200 (topic-partition:first-last)')
    partition = found["partition"]
    return OffsetRange(found["topic"], int(partition) if partition else None, int(found["first"]), int(found["last"]))
