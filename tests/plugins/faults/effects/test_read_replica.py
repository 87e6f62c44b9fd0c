"""Consumers that are sent to other brokers."""

from pathlib import Path

import pytest

from tests.plugins.faults.fetching import batch, fetch, fetched
from tests.plugins.faults.talking import FaultFile, FaultTalk


def talking(folder: Path, who: str, *brokers: int) -> tuple[FaultFile, FaultTalk]:
    faults = FaultFile(folder, f"faults: [{{do: {{read_replica: {who}}}}}]")
    talk = FaultTalk(faults, fetched(batch(0, b"a")), broker_id=1)
    for node_id in brokers:
        talk.connection.topology.learn(node_id, f"kafka-{node_id}", 9092)
    return faults, talk


@pytest.mark.parametrize(("who", "told"), [("other", 2), ("unknown", 4)])
def test_they_are_sent_elsewhere_and_get_no_records(tmp_path: Path, who: str, told: int) -> None:
    _, talk = talking(tmp_path, who, 1, 2, 3)
    (partition,) = talk.ask(fetch(), 11).responses[0].partitions
    assert (partition.preferred_read_replica, bytes(partition.records)) == (told, b"")


@pytest.mark.parametrize(
    ("version", "why"), [(10, "Fetch v10 answers name no replica to read from"), (11, "no other broker is known")]
)
def test_where_they_cannot_be_sent_nothing_fires(tmp_path: Path, version: int, why: str) -> None:
    faults, talk = talking(tmp_path, "other", 1)
    talk.ask(fetch(), version)
    assert faults.told[0].endswith(why)
