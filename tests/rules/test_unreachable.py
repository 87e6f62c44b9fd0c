"""Rules that can never match are reported, and no others."""

import pytest

from rules import examine_text

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
        ['12: no client has a name with white space at its ends, or with what cannot be seen: "User:b "'],
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
        ['5: this never allows anything: rule 3 under "acls" denies it all; take one of the two out'],
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
        "{allow: User:a, to: Read, topics: '*', groups: 'any name*'}",
        "{allow: User:a, to: Read, topics: t, from: ['*', '0:0:0:0:0:0:0:1', 10.1.2.3, fd00::/8]}",
        "{allow: 'User:*', to: Read, topics: t}\n  - {deny: User:a, to: Read, topics: t}",
        "{allow: User:a, to: Read, topics: t*}\n  - {deny: User:a, to: All, topics: tt*}",
        "{allow: User:a, to: Read, topics: t}\n  - {deny: User:a, to: All, topics: t, tls: false}",
        "{allow: User:a, to: Read, topics: t}\n  - {deny: User:a, to: All, topics: t, from: 10.1.2.3}",
    ],
)
def test_what_may_match_is_left_alone(rule: str) -> None:
    assert warnings(rule) == []


@pytest.mark.parametrize(
    ("principal", "complaint"),
    [
        ("user:admin", 'no client has the type "user"; did you mean "User:admin"?'),
        ("User:a;User:b", '"User:a;User:b" is one principal; write a list: [User:alice, User:bob]'),
        (" User:admin", 'no client has the type " User"; did you mean "User:admin"?'),
    ],
)
def test_a_super_user_who_can_be_nobody_is_told(principal: str, complaint: str) -> None:
    _, problems = examine_text(f"super_users: ['{principal}']\n", "acl.yaml", {})
    assert [str(problem) for problem in problems] == [f"acl.yaml:1:15: warning: {complaint}"]
