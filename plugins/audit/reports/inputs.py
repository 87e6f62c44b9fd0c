"""The inputs of reports beside the events: the period, filters, time zone, rules, tags, and facts about the journal.

An input that was not given is None or empty. All of them are immutable, and none needs Spark.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from plugins.audit.reports.facts import JournalFacts
from plugins.audit.reports.tags import Tags
from rules import Snapshot


@dataclass(frozen=True)
class OffsetRange:
    """Records of one topic, from the first to the last offset. `partition` None: of any partition."""

    topic: str
    partition: int | None
    first: int
    last: int


@dataclass(frozen=True)
class WorkHours:
    """Working hours: on these days (Monday is 0), from minute `start` of the day to before minute `end`."""

    days: tuple[int, ...] = (0, 1, 2, 3, 4)
    start: int = 8 * 60
    end: int = 18 * 60

    def __str__(self) -> str:
        days = ", ".join(("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")[day] for day in self.days)
        return f"{days} {_clock(self.start)} to {_clock(self.end)}"


@dataclass(frozen=True)
class Inputs:
    """The inputs of one run. Moments have a time zone; `until` is the first moment after the period."""

    facts: JournalFacts
    since: datetime | None = None
    until: datetime | None = None
    zone: str = "UTC"  # of days and hours of the day
    hours: WorkHours = WorkHours()
    principals: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    offsets: OffsetRange | None = None
    rules: Snapshot | None = None
    rules_file: str = ""
    tags: Tags | None = None
    files: tuple[tuple[str, str], ...] = ()  # what else was read: what it is, and its name and hash


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"
