"""Client rights: decisions for one client by one snapshot, which stay as they are when other rules come."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from plugins.acl.client_authorizer import ClientAuthorizer
from plugins.acl.client_rights import MOST_DECISIONS, ClientRights, size
from rules import Operation, ResourceType, Snapshot
from tests.plugins.acl.talk import Rules, Talk

Making = Callable[..., Rules]
READ, TOPIC = Operation.READ, ResourceType.TOPIC


def of_alice(own: Rules) -> ClientAuthorizer:
    return ClientAuthorizer(own.acl.authorizer, Talk(own.acl).connection)


def test_decisions_are_cached_but_not_without_end(rules: Making) -> None:
    rights = of_alice(rules("super_users: [User:alice]")).rights
    for number in range(MOST_DECISIONS + 10):
        assert rights.may(READ, TOPIC, str(number))
    assert rights.cached == sum(size(str(MOST_DECISIONS + number)) for number in range(10))


def test_the_cache_is_counted_by_its_names(rules: Making) -> None:
    client = of_alice(rules("acls: []"))
    for name in ("a", "b" * 200, "ä" * 100, "b" * 200, "c" * 250):
        client.rights.may(READ, TOPIC, name)
    assert client.held == client.rights.cached == sum(size(name) for name in ("a", "b" * 200, "ä" * 100))


def test_rights_that_were_replaced_decide_as_before_and_cache_nothing(rules: Making) -> None:
    own = rules("acls: [{allow: User:alice, to: Read, topics: t}]")
    client = of_alice(own)
    before = client.rights
    assert before.may(READ, TOPIC, "t")
    own.become("acls:\n- {deny: User:alice, to: Read, topics: t}")
    client.current()
    assert client.rights is not before
    for rights, may, line in ((before, True, 1), (client.rights, False, 2)):
        assert rights.may(READ, TOPIC, "t") is rights.decide_by_type(READ, TOPIC).allowed is may
        assert str(rights.place(READ, TOPIC, "t")).split(":")[-2] == str(line)
    assert before.id != client.rights.id == own.acl.rules.value.id
    assert before.cached == 0 < client.rights.cached


def test_whether_there_is_any_resource_at_all_is_looked_up_once(rules: Making, monkeypatch: pytest.MonkeyPatch) -> None:
    own = rules("acls: [{allow: User:alice, to: Write, topics: t*}]")
    rights = of_alice(own).rights
    first = rights.decide_by_type(Operation.WRITE, TOPIC)
    monkeypatch.setattr(Snapshot, "decide_by_type", lambda *_: pytest.fail("all rules are looked at again"))
    assert rights.decide_by_type(Operation.WRITE, TOPIC) is first


def test_where_a_rule_says_when_it_is_the_moment_of_the_rights_that_counts(rules: Making) -> None:
    own = rules("acls: [{allow: User:alice, to: Read, topics: '*', during: {hours: 12:00-13:00}}]")
    rights = of_alice(own).rights
    own.clock.time += 3600
    assert rights.may(READ, TOPIC, "t")
    assert rights.place(READ, TOPIC, "u") is not None


def test_a_client_that_only_its_broker_knows_may_do_nothing(rules: Making) -> None:
    own = rules("super_users: [User:alice]\nunmatched: allow")
    rights = ClientRights(own.acl.authorizer, own.acl.rules.value, None)
    assert not rights.is_known
    assert not rights.may(READ, TOPIC, "t")
    assert not rights.decide_by_type(READ, TOPIC).allowed
    assert rights.place(READ, TOPIC, "t") is None
