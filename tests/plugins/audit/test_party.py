"""The party: made anew only when a new fact about the client is known."""

from __future__ import annotations

from plugins.audit.party import MOST_CELLS, MOST_RULES, MOST_TALLIES, KnownParty
from proxy.plugin import FETCH, PRODUCE, FetchRequest, FetchResponse
from proxy.plugin.frames import traffic
from proxy.testing import FakeWorker, connection
from rules.noted import DecidingRules, note_in_force


def test_it_is_made_once_for_all_events_that_say_the_same() -> None:
    known, client = KnownParty(4, FakeWorker().services()), connection()
    before = known.of(client)
    assert known.of(client) is before
    client.principal, client.delegation = "User:alice", "token-id"
    after = known.of(client)
    assert after.fields == {**before.fields, "principal": "User:alice", "delegation": "token-id"}
    assert "principal" not in before.fields
    assert before.fields["connection"] == 4


class Deciding:
    """Rules of this id, which decide nothing."""

    def __init__(self, rules: str) -> None:
        self.id = rules

    def place(self, *asked: object) -> None:
        return None


def test_it_names_the_rules_in_force_or_those_that_decided() -> None:
    known, client = KnownParty(4, FakeWorker().services()), connection()
    assert "rules" not in known.of(client).fields
    first, other = Deciding("first"), Deciding("other")
    in_force: list[DecidingRules | None] = [first]
    note_in_force(client, lambda: in_force[0])
    before = known.of(client)
    assert known.of(client, first) is before
    assert before.fields["rules"] == "first"
    in_force[0] = other
    assert known.of(client).fields["rules"] == "other"
    assert known.of(client, first) is before, "its windows go on"
    in_force[0] = None
    assert "rules" not in known.of(client).fields
    assert known.of(client, other).fields["rules"] == "other"


def test_other_rules_in_force_have_requests_read_though_their_id_is_the_same() -> None:
    known, client, layouts = (
        KnownParty(4, FakeWorker().services()),
        connection(),
        traffic(FetchRequest, FetchResponse, 11),
    )
    assert layouts is not None
    in_force = [Deciding("rules")]
    note_in_force(client, lambda: in_force[0])
    before = known.of(client)
    told = known.told(FETCH, 11, layouts.tally)
    assert known.tally(client, (FETCH.key, 11)) is told is not None
    in_force[0] = Deciding("rules")
    assert known.tally(client, (FETCH.key, 11)) is None
    assert known.of(client) is before
    assert known.is_in_force(in_force[0])


def test_the_parties_that_are_kept_of_a_client_are_bounded() -> None:
    known, client = KnownParty(4, FakeWorker().services()), connection()
    for number in range(3 * MOST_RULES):
        assert known.of(client, Deciding(str(number))).fields["rules"] == str(number)
        assert len(known._parties) <= MOST_RULES


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
