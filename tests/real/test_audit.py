"""A journal compared with a ledger of the requests of real clients: each request once, with the right outcome.

`DOORKEEPER_LEDGER=100000` makes it a long run.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plugins.audit.verify import verify
from tests.plugins.audit.audited import FAULTS, audited, work
from tests.real.cluster import Cluster

REQUESTS = int(os.environ.get("DOORKEEPER_LEDGER", "2000"))
pytestmark = pytest.mark.real


def brokers(cluster: Cluster) -> dict[int, str]:
    return {node_id: broker.address for node_id, broker in cluster.brokers.items()}


def test_each_request_is_told_once_with_its_outcome(cluster: Cluster, tmp_path: Path) -> None:
    with audited(tmp_path, brokers(cluster)) as there:
        work(there, REQUESTS, without_answer=True)
        came = there.compared()
    assert sum(came.both.values()) > REQUESTS
    assert not came.only_journal
    assert not came.only_ledger
    assert not came.other_outcome
    assert not verify(there.journal).remarks
    print(f"{sum(came.both.values())} requests, each told of once")


def test_faults_at_random_are_told_right_too(cluster: Cluster, tmp_path: Path) -> None:
    """A request that the proxy never read, since it closed the connection before, is only in the ledger, unanswered."""
    (tmp_path / "faults.yaml").write_text(FAULTS)
    with audited(tmp_path, brokers(cluster), more="  - faults: {rules: faults.yaml}\n") as there:
        work(there, REQUESTS)
        came = there.compared()
    assert not came.only_journal
    assert not any(entry.answered for entry in came.only_ledger)
    assert not came.other_outcome
