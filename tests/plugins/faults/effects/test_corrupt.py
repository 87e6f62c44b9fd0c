"""Records that contradict their batch."""

from pathlib import Path
from typing import Any

import pytest

from plugins.faults.effects.corrupt import MOST_RECORDS, Corruption
from proxy.protocol.problem import ProtocolError
from proxy.protocol.records import CompressionType, RecordBatch, batches
from proxy.protocol.records.write import with_header
from tests.plugins.faults.fetching import batch, read, with_fault
from tests.plugins.faults.talking import FaultFile, FaultTalk, produce, serving

RECORDS = batch(0, b"value") * 2


def intact(records: Any) -> list[bool]:
    return [batch.is_intact for batch in batches(bytes(records)) if isinstance(batch, RecordBatch)]


def test_what_is_produced_is_corrupt_where_it_is_meant(tmp_path: Path) -> None:
    text = "faults: [{match: {api: Produce, topic: orders}, do: {corrupt: before_broker}}]"
    talk = FaultTalk(FaultFile(tmp_path, text), serving)
    request = produce("orders", "payments")
    for topic in request.topic_data:
        topic.partition_data[0].records = RECORDS
    talk.ask(request, 9)
    (reached,) = talk.to_broker
    assert [intact(topic.partition_data[0].records) for topic in reached.topic_data] == [[False, False], [True, True]]


def test_what_is_produced_without_an_answer_is_corrupt_too(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, "faults: [{match: {api: Produce}, do: {corrupt: before_broker}}]")
    talk = FaultTalk(faults, serving)
    request = produce("orders", acks=0)
    request.topic_data[0].partition_data[0].records = RECORDS
    talk.ask(request, 9)
    (reached,) = talk.to_broker
    assert intact(reached.topic_data[0].partition_data[0].records) == [False, False]


def test_what_is_fetched_is_corrupt(tmp_path: Path) -> None:
    (partition,), _ = with_fault(tmp_path, "{corrupt: after_broker}", RECORDS)
    assert intact(partition.records) == [False, False]


def test_very_many_records_in_a_small_request_are_changed_in_turns_with_others(tmp_path: Path) -> None:
    text = "faults: [{match: {api: Produce}, do: {corrupt: {what: value, side: before_broker}}}]"
    talk = FaultTalk(FaultFile(tmp_path, text), serving)
    request, values = produce("orders"), [b"v"] * 20_000
    request.topic_data[0].partition_data[0].records = batch(0, *values, compression=CompressionType.ZSTD)
    talk.ask(request, 9)
    (reached,) = talk.to_broker
    found = {value for _, value in read(reached.topic_data[0].partition_data[0].records)}
    assert found == {bytes([ord("v") ^ 0xFF])}
    assert talk.turns > 10


@pytest.mark.parametrize("codec", [CompressionType.NONE, CompressionType.GZIP, CompressionType.LZ4])
@pytest.mark.parametrize("what", ["compression", "codec", "count"])
def test_a_batch_that_was_written_wrongly_has_a_checksum_that_fits(
    tmp_path: Path, what: str, codec: CompressionType
) -> None:
    (partition,), _ = with_fault(tmp_path, f"{{corrupt: {{what: {what}}}}}", batch(0, b"value", compression=codec))
    assert intact(partition.records) == [True]
    with pytest.raises(ProtocolError):
        read(partition.records)


def test_a_batch_of_another_length_breaks_off(tmp_path: Path) -> None:
    (partition,), _ = with_fault(tmp_path, "{corrupt: {what: length}}", batch(0, b"value"))
    assert list(batches(bytes(partition.records), partial=True)) == []


def test_a_batch_may_have_a_format_that_nobody_knows(tmp_path: Path) -> None:
    (partition,), _ = with_fault(tmp_path, "{corrupt: {what: magic}}", batch(0, b"value"))
    with pytest.raises(ProtocolError, match="magic 9"):
        list(batches(bytes(partition.records)))


def test_values_may_be_what_no_application_can_read(tmp_path: Path) -> None:
    (partition,), _ = with_fault(tmp_path, "{corrupt: {what: value}}", batch(0, b"{}", b"", b"[]"))
    assert intact(partition.records) == [True]
    assert read(partition.records) == [(0, b"\x84\x82"), (1, b""), (2, b"\xa4\xa2")]


@pytest.mark.parametrize("what", sorted(it.value for it in set(Corruption)))
def test_markers_of_transactions_stay_as_they_are(tmp_path: Path, what: str) -> None:
    marker = batch(0, b"\0\0\0\0\0\0", control=True)
    (partition,), faults = with_fault(tmp_path, f"{{corrupt: {{what: {what}}}}}", marker)
    assert bytes(partition.records) == marker
    assert faults.told[0].endswith("it has no batch to which this could be done")


def test_a_batch_that_says_the_most_records_cannot_say_one_more(tmp_path: Path) -> None:
    (found,) = batches(batch(0, b"value"))
    assert isinstance(found, RecordBatch)
    full = with_header(found, records_count=MOST_RECORDS)
    (partition,), faults = with_fault(tmp_path, "{corrupt: {what: count}}", full)
    assert bytes(partition.records) == full
    assert faults.told[0].endswith("it has no batch to which this could be done")


def test_where_there_are_no_records_nothing_fires(tmp_path: Path) -> None:
    _, faults = with_fault(tmp_path, "corrupt", b"")
    assert faults.told[0].endswith("it has no records")


def test_what_is_no_batch_stays_as_it_is(tmp_path: Path) -> None:
    (partition,), faults = with_fault(tmp_path, "corrupt", b"\0" * 100)
    assert bytes(partition.records) == b"\0" * 100
    assert faults.told[0].endswith("it has no batch to which this could be done")
