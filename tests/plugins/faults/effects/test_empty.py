"""Fetches that bring nothing."""

from pathlib import Path

from tests.plugins.faults.fetching import batch, fetch, fetched
from tests.plugins.faults.talking import FaultFile, FaultTalk


def test_a_fetch_brings_no_records_and_no_error_and_the_next_one_all(tmp_path: Path) -> None:
    text = "faults: [{match: {api: Fetch}, when: {nth: 1}, do: empty}]"
    talk = FaultTalk(FaultFile(tmp_path, text), fetched(batch(0, b"value")))
    first, second = (talk.ask(fetch(), 12).responses[0].partitions[0] for _ in range(2))
    assert (bytes(first.records), first.error_code, first.high_watermark) == (b"", 0, 100)
    assert bytes(second.records) == batch(0, b"value")


def test_an_empty_answer_cannot_be_emptied(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, "faults: [{match: {api: Fetch}, do: empty}]")
    FaultTalk(faults, fetched(b"")).ask(fetch(), 12)
    assert faults.told[0].endswith("it has no records")
