"""Records from another time."""

from pathlib import Path
from typing import Any

import pytest

from plugins.faults.effects.timestamps import LATEST
from proxy.protocol.records import RecordBatch, batches
from proxy.protocol.records.write import with_header
from tests.plugins.faults.fetching import batch, with_fault
from tests.plugins.faults.talking import FaultFile, FaultTalk, produce, serving


def times(records: Any) -> list[int]:
    found = [it for it in batches(bytes(records)) if isinstance(it, RecordBatch)]
    assert all(it.is_intact for it in found)
    return [record.timestamp for it in found for record in it.records()] + [it.max_timestamp for it in found]


@pytest.mark.parametrize(
    ("do", "base"), [("{timestamps: 10s}", 990_000), ("{timestamps: {by: 10s, into: future}}", 1_010_000)]
)
def test_what_is_fetched_is_from_another_time(tmp_path: Path, do: str, base: int) -> None:
    (partition,), _ = with_fault(tmp_path, do, batch(0, b"a", b"b"))
    assert times(partition.records) == [base, base + 1, base + 1]


def test_no_time_is_before_1970(tmp_path: Path) -> None:
    (partition,), _ = with_fault(tmp_path, "{timestamps: 1h}", batch(0, b"a"))
    assert times(partition.records) == [0, 0]


def test_no_time_is_after_the_last_one_that_there_is(tmp_path: Path) -> None:
    (found,) = batches(batch(0, b"a"))
    assert isinstance(found, RecordBatch)
    late = with_header(found, base_timestamp=LATEST - 1, max_timestamp=LATEST)
    (partition,), _ = with_fault(tmp_path, "{timestamps: {by: 1h, into: future}}", late)
    assert times(partition.records) == [LATEST, LATEST]


def test_what_is_produced_is_from_another_time(tmp_path: Path) -> None:
    text = "faults: [{match: {api: Produce}, do: {timestamps: {by: 10s, side: before_broker}}}]"
    talk = FaultTalk(FaultFile(tmp_path, text), serving)
    request = produce("orders")
    request.topic_data[0].partition_data[0].records = batch(0, b"a")
    talk.ask(request, 9)
    assert times(talk.to_broker[0].topic_data[0].partition_data[0].records) == [990_000, 990_000]
