"""Explanations of a decision, and the smallest change that reverses it."""

import sys
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules import AccessQuestion, Client, Operation, ResourceType, Snapshot, examine_text
from rules.bindings import Binding, rules
from rules.explain import changes, explain
from rules.load import compiled
from rules.model import AclFile
from rules.values import Pattern
from rules.vocabulary import PatternType, Permission

FILE = """\
super_users: [User:admin]
acls:
  - allow: User:alice
    to: [Read, Describe]
    topics: [orders, payments-*]
    from: 10.0.0.0/8
  - deny: User:*
    to: All
    topics: [secrets, more]
  - allow: User:bob
    to: Read
    topics: t
  - allow: [User:bob, User:carol]
    to: Write
    topics: u
"""
TOPIC = ResourceType.TOPIC


def snapshot(text: str = FILE) -> Snapshot:
    found, problems = examine_text(text, "acl.yaml", {})
    assert found is not None, problems
    return found


def asked(who: str, operation: str, name: str | None, host: str | None = None) -> AccessQuestion:
    return AccessQuestion(Client(f"User:{who}", host), Operation[operation], TOPIC, name)


def steps(question: AccessQuestion, text: str = FILE) -> list[str]:
    made = explain(snapshot(text), question).changes
    return [f"{place.line}:{place.column}: {words}" if place else words for place, words in made]


ADD = 'add under "acls": '


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (asked("bob", "WRITE", "t"), ['10:5: add Write to "to"']),
        (asked("bob", "READ", "v"), ['10:5: add v to "topics"']),
        (asked("alice", "WRITE", "orders"), [f"{ADD}{{allow: User:alice, to: Write, topics: orders}}"]),
        (asked("dave", "READ", "t"), [f"{ADD}{{allow: User:dave, to: Read, topics: t}}"]),
        (
            asked("bob", "READ", "secrets"),
            ['7:5: take secrets out of "topics"', '10:5: add secrets to "topics"'],
        ),
        (asked("bob", "READ", "t"), ["10:5: take the rule out: {allow: User:bob, to: Read, topics: t}"]),
        (asked("bob", "WRITE", "u"), ['13:5: take User:bob out of "allow"']),
        (asked("alice", "READ", "orders", "10.1.2.3"), ['3:5: take orders out of "topics"']),
        (asked("admin", "WRITE", "x"), ['1:15: take User:admin out of "super_users"']),
        (asked("bob", "WRITE", None), []),
        (asked("*", "READ", "t"), []),
    ],
)
def test_the_smallest_change_is_told_with_its_place(question: AccessQuestion, expected: list[str]) -> None:
    assert steps(question) == expected


def test_rules_are_not_compiled_again_for_each_rule_that_denies() -> None:
    denies = "".join(f"  - {{deny: [User:a, User:b{it}], to: Read, topics: t}}\n" for it in range(100))
    of, compiled = snapshot(f"acls:\n{denies}"), 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal compiled
        compiled += event == "call" and frame.f_code is Snapshot.__init__.__code__

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        made = explain(of, asked("a", "READ", "t")).changes
    finally:
        sys.setprofile(before)
    assert [text for _, text in made] == ['take User:a out of "deny"'] * 100 + [
        f"{ADD}{{allow: User:a, to: Read, topics: t}}"
    ]
    assert compiled <= 4


def test_where_several_rules_allow_one_deny_is_smaller() -> None:
    text = 'acls:\n  - {allow: User:a, to: Read, topics: t}\n  - {allow: User:a, to: All, topics: "*"}\n'
    assert steps(asked("a", "READ", "t"), text) == [f"{ADD}{{deny: User:a, to: Read, topics: t}}"]
    assert steps(asked("a", "READ", "t"), "unmatched: allow\n") == [f"{ADD}{{deny: User:a, to: Read, topics: t}}"]


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        (asked("admin", "READ", "t"), "User:admin is one of the super_users"),
        (asked("a", "READ", "more"), "{deny: User:*, to: All, topics: [secrets, more]}"),
        (asked("bob", "DESCRIBE", "t"), "{allow: User:bob, to: Read, topics: t}"),
        (asked("a", "READ", "t"), "no rule allows it"),
        (asked("a", "READ", "z"), 'no rule names this topic, and "unmatched" is deny'),
        (asked("*", "READ", "z"), 'nobody can be called "User:*", which is everybody; give this client another name'),
    ],
)
def test_the_reason_is_what_decided(question: AccessQuestion, reason: str) -> None:
    assert explain(snapshot(), question).reason == reason


def test_unmatched_does_not_count_for_what_some_rule_names() -> None:
    explanation = explain(snapshot(f"unmatched: allow\n{FILE}"), asked("a", "READ", "t"))
    assert explanation.reason == 'no rule allows it; "unmatched" does not count, for some rule names this topic'


def test_rules_that_nearly_fit_are_told_with_what_is_missing() -> None:
    def near(question: AccessQuestion) -> list[str]:
        return [change.text for change in explain(snapshot(), question).near]

    assert near(asked("bob", "WRITE", "t")) == ["allows Read, not Write", "allows it with u"]
    assert near(asked("alice", "READ", "orders", "11.1.2.3")) == ['allows it only with "from: 10.0.0.0/8"']
    assert near(asked("dave", "READ", "t")) == ["allows it to User:bob"]
    group = AccessQuestion(Client("User:bob"), Operation.READ, ResourceType.GROUP, "g")
    assert [change.text for change in explain(snapshot(), group).near] == ["allows it with no group at all"]


names = st.sampled_from(["a", "ab", "b"])
patterns = st.builds(Pattern, st.sampled_from(PatternType), st.sampled_from(["a", "ab", "b", "*", ""]))
principals = st.sampled_from(["User:a", "User:b"])
operations = st.sampled_from([Operation.READ, Operation.WRITE, Operation.DESCRIBE, Operation.ALL])
hosts = st.sampled_from(["10.1.2.3", "10.1.2.4"])
some = st.builds(
    Binding,
    st.just(TOPIC),
    patterns,
    st.one_of(principals, st.just("User:*")),
    st.one_of(hosts, st.just("*")),
    operations,
    st.sampled_from(Permission),
)
questions = st.builds(
    AccessQuestion,
    st.builds(Client, principals, st.one_of(hosts, st.none())),
    operations,
    st.just(TOPIC),
    names,
)


@given(
    st.frozensets(some, max_size=12),
    st.sampled_from(["deny", "allow"]),
    st.frozensets(principals, max_size=1),
    questions,
)
def test_a_change_turns_the_answer_and_no_step_of_it_is_idle(
    of: frozenset[Binding], unmatched: str, super_users: frozenset[str], question: AccessQuestion
) -> None:
    acls = tuple(rules(of))
    before = compiled(AclFile.model_construct(acls=acls, unmatched=unmatched, super_users=tuple(super_users)))
    made, after = changes(before, question)
    assert question.put(after).allowed is not question.put(before).allowed
    assert made
    assert len(set(made)) == len(made)
