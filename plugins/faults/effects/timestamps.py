"""Timestamps: records have other times, as from a machine whose clock is wrong.

Before the broker: with `message.timestamp.before.max.ms` or `message.timestamp.after.max.ms` the broker answers
INVALID_TIMESTAMP. Otherwise it keeps the records, and retention goes by the false times. After the broker it is the
application that is misled.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from pydantic import Field

from plugins.faults.kinds import SentTime
from plugins.faults.records import RecordsEffect
from proxy.plugin.frames import with_header

LATEST = 2**63 - 1  # milliseconds: the field has 64 bits, and a client may write any number


class Into(Enum):
    """The direction of the shift."""

    PAST = "past"
    FUTURE = "future"


class ShiftTimestamps(RecordsEffect):
    """Shift the timestamps of all records."""

    by: SentTime = Field(description="How far.", examples=["1h"])
    into: Into = Field(default=Into.PAST, description="Into the past or the future.", examples=["future"])

    def changed(self, batch: Any) -> bytes:
        by = round(self.by * 1000) * (1 if self.into is Into.FUTURE else -1)
        base, latest = (min(max(at + by, 0), LATEST) for at in (batch.base_timestamp, batch.max_timestamp))
        return with_header(batch, base_timestamp=base, max_timestamp=latest)
