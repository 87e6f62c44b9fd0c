"""Rotation: when a segment ends, and the next one begins.

Rules:
* A segment ends when it is large or old enough, or its hour is over. A segment in which nothing happened stays open,
  unless an event of another hour is to be written.
* It also ends when the window of summaries becomes longer than its first event says.
"""

from __future__ import annotations

from dataclasses import dataclass

from plugins.audit.open_segment import OpenSegment

HOUR = 3600


@dataclass(frozen=True)
class Rotation:
    """When a segment ends: at `size` bytes on disk, or `age` seconds after it began."""

    size: int = 16 << 20
    age: float = 900.0


@dataclass
class WrittenSegment:
    """A segment with its first event, when it began, and for how many seconds summaries may count in it."""

    file: OpenSegment
    first: int
    begun: float
    window: float

    def is_over(self, rotation: Rotation, now: float, window: float, *, more: bool) -> bool:
        """Whether it ends at `now`. `window`: for how long summaries count from now on. `more`: events wait."""
        is_other_hour = now // HOUR != self.begun // HOUR
        is_old = (now >= self.begun + rotation.age or is_other_hour) and self.file.events > 1
        return self.file.size >= rotation.size or is_old or (more and is_other_hour) or window > self.window
