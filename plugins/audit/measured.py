"""Measured: the number, offsets and timestamps of records that were produced or fetched.

Nearly all requests and answers have a single complete batch for a partition. It is measured by its header alone: 0.5 us
in place of 4.
"""

from __future__ import annotations

from typing import NamedTuple

from proxy.plugin import ProtocolError, RecordBatch, batches, turn
from proxy.plugin.frames import HEADER, MAGIC

CONTROL = 1 << 5  # the attribute of the broker's own batches, e.g. the end of a transaction
LENGTH_AFTER = 12  # bytes at the beginning of a batch that its length does not count


class MeasuredRecords(NamedTuple):
    """Records of a partition. `records` None: they cannot be counted unread. Other numbers are -1 if not known."""

    records: int | None
    first_offset: int = -1
    last_offset: int = -1
    first_timestamp: int = -1
    last_timestamp: int = -1


UNKNOWN = MeasuredRecords(None)


def measured(data: bytes | memoryview, is_answer: bool) -> MeasuredRecords:
    """Measure the records of a partition. In an answer the last batch may break off."""
    if len(data) >= HEADER.size:
        base, length, _, magic, _, bits, delta, first, last, *_, count = HEADER.unpack_from(data)
        if magic == MAGIC and length + LENGTH_AFTER == len(data) and not bits & CONTROL and count >= 0:
            return MeasuredRecords(count, base, base + delta, first if last >= 0 else -1, last)
    return _measured(data, is_answer)


def _measured(data: bytes | memoryview, is_answer: bool) -> MeasuredRecords:
    records, first, last, earliest, latest = 0, -1, -1, -1, -1
    try:
        for batch in batches(data, partial=is_answer):
            turn()
            if not isinstance(batch, RecordBatch):
                return UNKNOWN
            if batch.is_control:
                continue
            records += batch.records_count
            first, last = batch.base_offset if first < 0 else first, batch.last_offset
            if batch.max_timestamp >= 0:
                earliest, latest = batch.base_timestamp if earliest < 0 else earliest, max(latest, batch.max_timestamp)
    except ProtocolError:
        return UNKNOWN
    return MeasuredRecords(records, first, last, earliest, latest)
