"""A worker that is killed: the journal has all requests that were answered before its last writes."""

from __future__ import annotations

from pathlib import Path

from tests.mock_brokers import mock_brokers
from tests.plugins.audit.killed import kill

FLUSHES = 12
LAST = 3  # writes; two would do, if a request were put into the queue at the very moment of its answer


def test_what_was_answered_before_the_last_writes_of_a_killed_worker_is_in_the_journal(tmp_path: Path) -> None:
    """A write begins 50 ms after the one before it has ended: that is what the 100 ms of the page are, on any machine.

    How many milliseconds it is `python -m tests.bench.killed` prints.
    """
    with mock_brokers(1) as bootstrap:
        killed = kill(tmp_path, bootstrap, FLUSHES)
    assert list(killed.written) == list(range(len(killed.written))), "nothing is missing before something that is not"
    before = [one for one in killed.acknowledged if one.at < killed.grown[-LAST]]
    assert len(before) > FLUSHES
    assert not [one for one in before if one in killed.lost]
