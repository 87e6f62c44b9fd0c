"""Measured records: from the header of one batch or from a walk over several, with the same result."""

from __future__ import annotations

from plugins.audit import measured as module
from plugins.audit.measured import UNKNOWN, MeasuredRecords, measured
from proxy.plugin import Record, write_batch

BATCH = write_batch([Record(None, b"v", timestamp=1000 + n) for n in range(3)], base_offset=40)
NEXT = write_batch([Record(None, b"v", timestamp=900)], base_offset=43)
WITHOUT_TIME = write_batch([Record(None, b"v")])


def test_one_batch_is_measured_by_its_header() -> None:
    assert measured(BATCH, False) == MeasuredRecords(3, 40, 42, 1000, 1002)
    assert measured(BATCH, True) == module._measured(BATCH, True)
    assert measured(WITHOUT_TIME, False) == module._measured(WITHOUT_TIME, False) == MeasuredRecords(1, 0, 0)


def test_several_batches_are_gone_over() -> None:
    assert measured(BATCH + NEXT, False) == MeasuredRecords(4, 40, 43, 1000, 1002)


def test_a_batch_that_breaks_off_is_none_of_an_answer() -> None:
    assert measured(BATCH + NEXT[:30], True) == MeasuredRecords(3, 40, 42, 1000, 1002)


def test_what_is_no_batch_cannot_be_counted() -> None:
    assert measured(b"odd", False) == UNKNOWN
    assert measured(BATCH[:-1], False) == UNKNOWN
