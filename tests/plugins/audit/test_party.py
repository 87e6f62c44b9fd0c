"""The party: made anew only when something is known that was not before."""

from __future__ import annotations

from plugins.audit.party import KnownParty
from proxy.testing import FakeWorker, connection


def test_it_is_made_once_for_all_events_that_say_the_same() -> None:
    known, client = KnownParty(4, FakeWorker().services()), connection()
    before = known.of(client)
    assert known.of(client) is before
    client.principal, client.delegation = "User:alice", "token-id"
    after = known.of(client)
    assert after.fields == {**before.fields, "principal": "User:alice", "delegation": "token-id"}
    assert "principal" not in before.fields
    assert before.fields["connection"] == 4
