"""Rules that can never match are reported, and no others."""

import pytest

from rules import ResourceType, examine_text
from rules.unreachable import Denials

WARNINGS = {
    "an operation that is never asked": (
        "{allow: User:a, to: [Read, CreateTokens], topics: t}",
        [
            "32: no broker asks for CreateTokens of topics; it asks for Alter, AlterConfigs, Create, Delete, Describe, "
            "DescribeConfigs, Read, Write"
        ],
    ),
    "a deny that is never asked": (
        "{deny: User:a, to: Write, groups: g}",
        ["24: no broker asks for Write of groups; it asks for AlterConfigs, Delete, Describe, DescribeConfigs, Read"],
    ),
    "a resource of which nothing is asked": (
        "{deny: User:a, to: Write, topics: t, groups: g}",
        ["50: no broker asks for Write of groups; it asks for AlterConfigs, Delete, Describe, DescribeConfigs, Read"],
    ),
    "a rule for a super user": (
        "{deny: User:admin, to: Read, topics: t}",
        ['12: "User:admin" is a super user, whom no rule concerns; leave it out here or there'],
    ),
    "everybody of a type": (
        "{deny: 'Group:*', to: Read, topics: t}",
        ['12: "Group:*" is somebody of the name "*"; "User:*" is everybody, of every type'],
    ),
    "a prefix of principals": (
        "{allow: 'User:team-*', to: Read, topics: t}",
        ['13: "User:team-*" is somebody whose name ends so; principals have no prefixes, write a list of them'],
    ),
    "a type in lower case": (
        "{allow: user:a, to: Read, topics: t}",
        ['13: no client has the type "user"; did you mean "User:a"?'],
    ),
    "several principals in one": (
        "{deny: 'User:b;User:c', to: Read, topics: t}",
        ['12: "User:b;User:c" is one principal; write a list: [User:alice, User:bob]'],
    ),
    "a name with a space at its end": (
        "{deny: 'User:b ', to: Read, topics: t}",
        [
            '12: no client has the name of "User:b "; write it without white space at its ends, '
            "and without what cannot be seen"
        ],
    ),
    "a network of IPv4 addresses inside IPv6": (
        "{deny: User:b, to: Read, topics: t, from: '::ffff:10.0.0.0/104'}",
        [
            '47: a client from "::ffff:10.0.0.0/104" has an IPv4 address, which is never in an IPv6 network; '
            'write "10.0.0.0/8"'
        ],
    ),
    "a host by its name": (
        "{allow: User:a, to: Read, topics: t, from: localhost}",
        ['48: no client comes from "localhost", hosts are addresses; write e.g. "127.0.0.1"'],
    ),
    "a short IPv6 address": (
        "{allow: User:a, to: Read, topics: t, from: '::1'}",
        ['48: hosts are compared as Java prints them, not as "::1"; write "0:0:0:0:0:0:0:1"'],
    ),
    "a network as a text": (
        "{allow: User:a, to: Read, topics: t, from: {literal: 10.0.0.0/8}}",
        ['48: no client comes from "10.0.0.0/8", hosts are addresses; write e.g. "127.0.0.1"'],
    ),
    "a topic that cannot be": (
        "{allow: User:a, to: Read, topics: [t, my topic]}",
        ["43: no topic has a \" \" in its name; names have letters, digits, '.', '_' and '-'"],
    ),
    "a topic that is too long": (
        f"{{allow: User:a, to: Read, topics: {'t' * 250}}}",
        ["39: no topic has this name; names have 1 to 249 characters, and are neither '.' nor '..'"],
    ),
    "a cluster of another name": (
        "{allow: User:a, to: Alter, cluster: main}",
        ['41: the cluster has the name "kafka-cluster" in every broker; write "cluster: true"'],
    ),
    "a user without a type": (
        "{allow: User:a, to: CreateTokens, users: bob}",
        ['46: "bob" has no type; write "User:bob"'],
    ),
    "an allow that is denied": (
        "{allow: User:a, to: [Read, Write], topics: [t, d-1], from: 10.0.0.0/8}\n"
        "  - {deny: User:a, to: [Read, Describe], topics: t}\n"
        "  - {deny: 'User:*', to: All, topics: d*}\n"
        "  - {deny: User:a, to: Write, topics: '*'}",
        [
            '5: this never allows anything: rules 2, 3, 4 under "acls" together deny it all; '
            "take this rule out, or one of those"
        ],
    ),
    "an allow that one rule denies": (
        "{allow: User:a, to: Read, topics: [t, tt]}\n  - {deny: User:a, to: All, topics: t*}",
        ['5: this never allows anything: rule 2 under "acls" denies it all; take one of the two out'],
    ),
    "an allow that many rules deny": (
        f"{{allow: User:a, to: Read, topics: [{', '.join(f't{n}' for n in range(7))}]}}"
        + "".join(f"\n  - {{deny: User:a, to: All, topics: t{n}}}" for n in range(7)),
        [
            '5: this never allows anything: rules 2, 3, 4, 5, 6 and more under "acls" together deny it all; '
            "take this rule out, or one of those"
        ],
    ),
}


def warnings(rule: str) -> list[str]:
    snapshot, problems = examine_text(f"super_users: User:admin\nacls:\n  - {rule}\n", "acl.yaml", {})
    assert snapshot is not None, problems
    return [str(problem) for problem in problems]


@pytest.mark.parametrize("case", WARNINGS)
def test_what_can_never_match_is_told_with_its_place(case: str) -> None:
    rule, expected = WARNINGS[case]
    assert warnings(rule) == [f"acl.yaml:3:{line.replace(': ', ': warning: ', 1)}" for line in expected]


@pytest.mark.parametrize(
    "rule",
    [
        "{allow: User:a, to: Write, groups: g}",  # it implies Describe
        "{allow: User:a, to: All, groups: g}",
        "{deny: User:a, to: [Read, Write], topics: t, groups: g}",
        "{allow: User:a, to: Alter, cluster: kafka-*}",
        "{allow: User:a, to: Alter, cluster: '*'}",
        "{deny: User:a, to: Delete, cluster: true}",  # of every topic
        "{allow: User:a, to: [Delete, Describe], cluster: true}\n  - {deny: User:a, to: Describe, cluster: true}",
        "{allow: User:a, to: Read, topics: '*', groups: 'any name*'}",
        "{allow: User:a, to: Read, topics: t, from: ['*', '0:0:0:0:0:0:0:1', 10.1.2.3, fd00::/8]}",
        "{allow: 'User:*', to: Read, topics: t}\n  - {deny: User:a, to: Read, topics: t}",
        "{allow: User:a, to: Read, topics: t*}\n  - {deny: User:a, to: All, topics: tt*}",
        "{allow: User:a, to: Read, topics: t}\n  - {deny: User:a, to: All, topics: t, tls: false}",
        "{allow: User:a, to: Read, topics: t}\n  - {deny: User:a, to: All, topics: t, from: 10.1.2.3}",
        # An empty prefix does not deny "any topic at all", which a broker asks of idempotent producers (KIP-679).
        "{allow: User:a, to: Write, topics: t*}\n  - {deny: User:a, to: All, topics: {prefixed: ''}}",
    ],
)
def test_what_may_match_is_left_alone(rule: str) -> None:
    assert warnings(rule) == []


@pytest.mark.parametrize(
    ("principal", "complaint"),
    [
        ("user:admin", 'no client has the type "user"; did you mean "User:admin"?'),
        ("User:a;User:b", '"User:a;User:b" is one principal; write a list: [User:alice, User:bob]'),
        (
            "User:*",
            '"User:*" does not make everybody a super user, here it is somebody of the name "*"; '
            'write "allow: User:*" under "acls"',
        ),
        (" User:admin", 'no client has the type " User"; did you mean "User:admin"?'),
    ],
)
def test_a_super_user_who_can_be_nobody_is_told(principal: str, complaint: str) -> None:
    _, problems = examine_text(f"super_users: ['{principal}']\n", "acl.yaml", {})
    assert [str(problem) for problem in problems] == [f"acl.yaml:1:15: warning: {complaint}"]


def test_a_rule_for_everybody_does_not_pass_for_one_of_a_super_user() -> None:
    text = "super_users: 'User:*'\nacls:\n- {allow: 'User:*', to: Read, topics: t}\n"
    _, problems = examine_text(text, "acl.yaml", {})
    assert [problem.place for problem in problems if problem.place] == [(1, 14)]


def test_a_rule_that_no_broker_asks_for_is_not_said_to_be_denied() -> None:
    rule = "{allow: User:a, to: CreateTokens, topics: t}\n  - {deny: User:a, to: Read, topics: t}"
    (warning,) = warnings(rule)
    assert "no broker asks for CreateTokens of topics" in warning


def test_a_deny_that_stands_in_many_rules_is_looked_at_once() -> None:
    same = "- {deny: User:a, to: [Read, Write], topics: t*}\n- {deny: User:a, to: Read, topics: t*}\n"
    snapshot, _ = examine_text(f"acls:\n{same * 10}- {{deny: User:a, to: Delete, topics: t*}}\n", "acl.yaml", {})
    assert snapshot is not None
    assert Denials(snapshot.file).indexes[ResourceType.TOPIC, "User:a"].about("t") == [0, 20]
