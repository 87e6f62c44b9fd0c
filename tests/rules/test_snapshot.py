"""Decisions beyond Kafka's ACLs, and the rules that decided. `test_authorizer` compares the rest with Kafka."""

import pytest

from rules import Client, Operation, ResourceType, Snapshot, Why, examine_text
from rules.conditions import Client as Somebody

READ, WRITE, DESCRIBE = Operation.READ, Operation.WRITE, Operation.DESCRIBE
TOPIC, GROUP = ResourceType.TOPIC, ResourceType.GROUP
ALICE = Client("User:alice", "10.1.2.3", "alice-1", "clients", "PLAIN", True)


def rules(text: str) -> Snapshot:
    snapshot, problems = examine_text(text, "acl.yaml", {})
    assert snapshot is not None, problems
    return snapshot


FILE = """\
super_users: [User:admin, User:root]
unmatched: allow
acls:
  - {allow: User:alice, to: Read, topics: [orders, payments-*]}
  - {deny: User:*, to: Write, topics: orders}
"""


def test_a_decision_says_what_decided_and_where_it_stands() -> None:
    snapshot = rules(FILE)
    allowed = snapshot.decide(ALICE, READ, TOPIC, "payments-eu")
    assert (allowed.allowed, allowed.why, allowed.place) == (True, Why.ALLOWED, (4, 5))
    denied = snapshot.decide(ALICE, WRITE, TOPIC, "orders")
    assert (denied.allowed, denied.why, denied.place) == (False, Why.DENIED, (5, 5))
    above = snapshot.decide(Client("User:root"), WRITE, TOPIC, "orders")
    assert (above.allowed, above.why, above.place) == (True, Why.SUPER_USER, (1, 27))
    nobody = snapshot.decide(Client("User:bob"), READ, TOPIC, "orders")
    assert (nobody.allowed, nobody.why, nobody.place) == (False, Why.NOT_ALLOWED, None)
    unmatched = snapshot.decide(Client("User:bob"), READ, TOPIC, "other")
    assert (unmatched.allowed, unmatched.why, unmatched.place) == (True, Why.UNMATCHED, (2, 12))


def test_a_deny_wins_wherever_it_stands() -> None:
    lines = ["  - {allow: User:alice, to: All, topics: t}\n", '  - {deny: User:alice, to: Read, topics: "*"}\n']
    for text in ("".join(lines), "".join(reversed(lines))):
        assert not rules(f"acls:\n{text}").decide(ALICE, READ, TOPIC, "t").allowed


CONDITIONS = ["from: 10.0.0.0/8", "client_id: alice-*", "listener: clients", "mechanism: PLAIN", "tls: true"]


@pytest.mark.parametrize("condition", [*CONDITIONS, "during: {hours: 08:00-18:00}"])
def test_a_condition_on_the_unknown_holds_in_a_deny_and_not_in_an_allow(condition: str) -> None:
    allow = f"  - {{allow: User:alice, to: Read, topics: t, {condition}}}\n"
    deny = f"  - {{deny: User:alice, to: Read, topics: t, {condition}}}\n"
    everybody = "  - {allow: User:*, to: Read, topics: t}\n"
    unknown = Somebody("User:alice")
    assert not rules(f"acls:\n{allow}").decide(unknown, READ, TOPIC, "t").allowed
    assert rules(f"acls:\n{allow}").decide(ALICE, READ, TOPIC, "t", at=36_000).allowed
    assert not rules(f"acls:\n{everybody}{deny}").decide(unknown, READ, TOPIC, "t").allowed
    assert rules(f"acls:\n{everybody}{deny}").decide(Client("User:bob"), READ, TOPIC, "t").allowed


def test_a_condition_that_fails_leaves_the_question_to_other_rules() -> None:
    text = "acls:\n  - {deny: User:*, to: Read, topics: t, tls: false}\n  - {allow: User:*, to: Read, topics: t}\n"
    assert rules(text).decide(ALICE, READ, TOPIC, "t").allowed


def test_a_rule_with_a_condition_still_names_its_resource() -> None:
    text = "unmatched: allow\nacls:\n  - {allow: User:bob, to: Read, topics: t, tls: false}\n"
    assert rules(text).decide(ALICE, READ, TOPIC, "t").why is Why.NOT_ALLOWED
    assert rules(text).decide(ALICE, READ, GROUP, "t").why is Why.UNMATCHED


def test_one_rule_stands_for_every_combination_of_what_it_lists() -> None:
    text = "acls:\n  - {allow: [User:a, User:b], to: [Read, Write], topics: [s, t], groups: g}\n"
    snapshot = rules(text)
    for who in ("User:a", "User:b"):
        for operation in (READ, WRITE, DESCRIBE):
            assert all(snapshot.decide(Client(who), operation, TOPIC, name).allowed for name in ("s", "t"))
        assert snapshot.decide(Client(who), READ, GROUP, "g").allowed
    assert not snapshot.decide(Client("User:a"), READ, GROUP, "s").allowed


def test_any_of_a_type_is_allowed_where_something_is_left() -> None:
    allowed = "acls:\n  - {allow: User:alice, to: Write, topics: [a-*]}\n"
    decision = rules(allowed).decide_by_type(ALICE, WRITE, TOPIC)
    assert (decision.allowed, decision.place) == (True, (2, 5))
    denied = rules(allowed + "  - {deny: User:alice, to: Write, topics: a*}\n").decide_by_type(ALICE, WRITE, TOPIC)
    assert (denied.allowed, denied.place) == (False, (3, 5))
    for text in ("acls:\n", allowed + '  - {deny: User:*, to: All, topics: "*"}\n'):
        assert not rules(text).decide_by_type(ALICE, WRITE, TOPIC).allowed


def test_nobody_can_be_everybody() -> None:
    snapshot = rules('unmatched: allow\nacls:\n  - {allow: User:*, to: All, topics: "*"}\n')
    assert snapshot.decide(Client("User:*"), READ, TOPIC, "t").why is Why.NOBODY
    assert snapshot.decide_by_type(Client("User:*"), READ, TOPIC).why is Why.NOBODY
