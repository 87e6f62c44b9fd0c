"""Fetches that wait longer than requested."""

from pathlib import Path

from tests.plugins.faults.fetching import fetch, fetched
from tests.plugins.faults.talking import FaultFile, FaultTalk


def test_the_broker_is_asked_to_wait(tmp_path: Path) -> None:
    talk = FaultTalk(FaultFile(tmp_path, "faults: [{do: {long_poll: 30s}}]"), fetched(b""))
    talk.ask(fetch(), 11)
    (reached,) = talk.to_broker
    assert (reached.max_wait_ms, reached.min_bytes) == (30_000, 2**31 - 1)
