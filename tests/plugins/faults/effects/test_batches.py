"""Batches that arrive differently from those in the log."""

from pathlib import Path

import pytest

from tests.plugins.faults.fetching import batch, read, with_fault

ONE, TWO = batch(0, b"a", b"b"), batch(2, b"c")


@pytest.mark.parametrize(
    ("what", "offsets"), [("dropped", [2]), ("reordered", [2, 0, 1]), ("repeated", [0, 1, 0, 1, 2])]
)
def test_a_batch_is_dropped_reordered_or_repeated(tmp_path: Path, what: str, offsets: list[int]) -> None:
    (partition,), _ = with_fault(tmp_path, f"{{batches: {what}}}", ONE + TWO)
    found = [offset for offset, _ in read(partition.records)]
    assert found == offsets or (what == "repeated" and found == [0, 1, 2, 2])


def test_what_breaks_off_at_the_end_stays(tmp_path: Path) -> None:
    (partition,), _ = with_fault(tmp_path, "{batches: dropped}", ONE + TWO + batch(3, b"d")[:30])
    assert bytes(partition.records) == TWO + batch(3, b"d")[:30]


@pytest.mark.parametrize("what", ["dropped", "reordered"])
def test_the_only_batch_is_not_dropped_since_it_would_be_asked_for_again(tmp_path: Path, what: str) -> None:
    (partition,), faults = with_fault(tmp_path, f"{{batches: {what}}}", ONE)
    assert bytes(partition.records) == ONE
    assert faults.told[0].endswith("it has no two batches in one partition")


def test_a_marker_of_a_transaction_is_never_dropped(tmp_path: Path) -> None:
    marker = batch(0, b"\0\0\0\0\0\0", control=True)
    _, faults = with_fault(tmp_path, "{batches: dropped}", marker + TWO)
    assert faults.told[0].endswith("it has no two batches in one partition")
