"""The party: made anew only when a new fact about the client is known."""

from __future__ import annotations

from plugins.audit.party import MOST_CELLS, MOST_TALLIES, KnownParty
from proxy.plugin import FETCH, PRODUCE, FetchRequest, FetchResponse
from proxy.plugin.frames import traffic
from proxy.testing import FakeWorker, connection
from rules.noted import NotedRules, note_rules


def test_it_is_made_once_for_all_events_that_say_the_same() -> None:
    known, client = KnownParty(4, FakeWorker().services()), connection()
    before = known.of(client)
    assert known.of(client) is before
    client.principal, client.delegation = "User:alice", "token-id"
    after = known.of(client)
    assert after.fields == {**before.fields, "principal": "User:alice", "delegation": "token-id"}
    assert "principal" not in before.fields
    assert before.fields["connection"] == 4


def test_it_says_by_which_rules_requests_are_decided_now() -> None:
    known, client, ids = KnownParty(4, FakeWorker().services()), connection(), ["first"]
    assert "rules" not in known.of(client).fields
    note_rules(client, NotedRules(lambda: ids[0], lambda *_: None))
    assert known.of(client).fields["rules"] == "first"
    ids[0] = "other"
    assert known.of(client).fields["rules"] == "other"
    note_rules(client, NotedRules(lambda: None, lambda *_: None))
    assert "rules" not in known.of(client).fields


def test_what_is_known_of_a_client_to_tell_its_requests_unread_is_bounded() -> None:
    known, client, layouts = (
        KnownParty(4, FakeWorker().services()),
        connection(),
        traffic(FetchRequest, FetchResponse, 11),
    )
    assert layouts is not None
    known.of(client)
    first = known.told(FETCH, 11, layouts.tally)
    assert first is not None
    assert first.told is not None
    for cell in range(MOST_CELLS):
        assert known.told(FETCH, 11, layouts.tally) is first
        first.told.know(cell, b"orders", b"{}")
    assert known.told(FETCH, 11, layouts.tally) is not first
    for api in (PRODUCE, FETCH):
        for version in api.versions:
            known.told(api, version, layouts.tally)
            assert len(known.tallies) <= MOST_TALLIES
