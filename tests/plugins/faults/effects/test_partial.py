"""Fetches that return only a part of the records."""

from pathlib import Path

from tests.plugins.faults.fetching import batch, read, with_fault

ONE, TWO = batch(0, b"a"), batch(1, b"b")


def test_only_so_many_partitions_bring_records(tmp_path: Path) -> None:
    partitions, _ = with_fault(tmp_path, "{partial: {partitions: 1}}", b"", ONE, TWO)
    assert [bytes(it.records) for it in partitions] == [b"", ONE, b""]


def test_a_partition_brings_so_many_batches(tmp_path: Path) -> None:
    partitions, _ = with_fault(tmp_path, "{partial: {batches: 1}}", ONE + TWO, TWO)
    assert [bytes(it.records) for it in partitions] == [ONE, TWO]


def test_a_partition_brings_so_many_bytes_and_what_they_end_in_breaks_off(tmp_path: Path) -> None:
    (partition,), _ = with_fault(tmp_path, f"{{partial: {{bytes: {len(ONE) + 10}}}}}", ONE + TWO)
    assert len(partition.records) == len(ONE) + 10
    assert read(partition.records) == [(0, b"a")]


def test_what_brings_no_more_anyway_is_no_firing(tmp_path: Path) -> None:
    _, faults = with_fault(tmp_path, "{partial: {batches: 1}}", ONE)
    assert faults.told[0].endswith("it has no more than would be left")
