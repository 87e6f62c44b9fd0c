"""False lists of aborted transactions."""

from pathlib import Path
from typing import Any

import pytest

from tests.plugins.faults.fetching import Aborted, batch, fetch, fetched, with_fault
from tests.plugins.faults.talking import FaultFile, FaultTalk

RECORDS = batch(0, b"a", producer_id=7, transactional=True) + batch(1, b"b", producer_id=8, transactional=True)
PLAIN = batch(2, b"c", producer_id=9)


def test_all_are_missing(tmp_path: Path) -> None:
    aborted = [Aborted(producer_id=7, first_offset=0)]
    (partition,), _ = with_fault(tmp_path, "{aborted: missing}", RECORDS, aborted=aborted)
    assert partition.aborted_transactions == []


def test_those_that_are_none_are_added(tmp_path: Path) -> None:
    aborted = [Aborted(producer_id=8, first_offset=1)]
    (partition,), _ = with_fault(tmp_path, "{aborted: added}", RECORDS + PLAIN, aborted=aborted)
    assert [(it.producer_id, it.first_offset) for it in partition.aborted_transactions] == [(7, 0), (8, 1)]


def test_a_producer_that_aborted_one_transaction_has_others(tmp_path: Path) -> None:
    mine: dict[str, Any] = {"producer_id": 7, "transactional": True}
    end = {**mine, "control": True}
    records = b"".join(
        batch(at, b"\0\0\0\0\0\0", **(end if at % 2 else mine)) for at in range(6)
    )  # three transactions, of which the second was aborted
    aborted = [Aborted(producer_id=7, first_offset=2)]
    (partition,), _ = with_fault(tmp_path, "{aborted: added}", records, aborted=aborted)
    assert [it.first_offset for it in partition.aborted_transactions] == [0, 2, 4]


@pytest.mark.parametrize(
    ("what", "records", "why"),
    [
        ("missing", RECORDS, "no transaction of it was aborted"),
        ("added", PLAIN, "it has no records of a transaction to be added"),
    ],
)
def test_where_there_is_nothing_to_lie_about_nothing_fires(tmp_path: Path, what: str, records: bytes, why: str) -> None:
    _, faults = with_fault(tmp_path, f"{{aborted: {what}}}", records, aborted=[])
    assert faults.told[0].endswith(why)


def test_whoever_reads_what_is_not_committed_is_told_of_no_transactions(tmp_path: Path) -> None:
    _, faults = with_fault(tmp_path, "{aborted: added}", RECORDS)
    assert faults.told[0].endswith("it is not a fetch of what is committed")


def test_old_answers_know_no_transactions(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, "faults: [{do: {aborted: missing}}]")
    FaultTalk(faults, fetched(RECORDS)).ask(fetch(), 3)
    assert faults.told[0].endswith("Fetch v3 answers have no aborted transactions")
