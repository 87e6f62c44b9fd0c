"""Every mistake in a rules file is reported at once, with its place, a fact and a way out."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proxy.text.problems import BadFileError
from rules import Client, Operation, ResourceType, examine, examine_text, load

GOOD = """\
super_users: [User:admin]
unmatched: deny
acls:
  - allow: User:alice
    to: [Read, Describe]
    topics: [orders, payments-*]
    groups: alice-*
    from: 10.0.0.0/8
  - deny: User:*
    to: All
    topics: secrets
"""
OPTIONS = (
    "allow, client_id, cluster, delegation_tokens, deny, during, from, groups, listener, mechanism, tls, to, topics, "
    "transactional_ids, users"
)
OPERATIONS = (
    "All, Alter, AlterConfigs, ClusterAction, Create, CreateTokens, Delete, Describe, DescribeConfigs, DescribeTokens, "
    "IdempotentWrite, Read, TwoPhaseCommit, Write"
)
RULE = "  - deny: User:*\n    to: All\n    topics: secrets\n"


def instead(old: str, new: str, text: str = GOOD) -> str:
    assert old in text
    return text.replace(old, new, 1)


MISTAKES: dict[str, tuple[str, list[str]]] = {
    "an empty file": (
        "",
        [
            '1:1: the file is empty; begin with "acls:" (doorkeeper explain --help shows a whole file)',
        ],
    ),
    "a list of rules alone": (
        "- allow: User:a\n",
        [
            '1:1: the file is no mapping of options; begin with "acls:" (doorkeeper explain --help shows a whole file)',
        ],
    ),
    "a word alone": (
        "deny\n",
        [
            '1:1: the file is no mapping of options; begin with "acls:" (doorkeeper explain --help shows a whole file)',
        ],
    ),
    "an alias": (
        instead("topics: secrets", "topics: *secrets"),
        [
            '11:13: "*secrets" repeats another part of the file; write that part out',
        ],
    ),
    "a wildcard without quotes": (
        instead("topics: secrets", "topics: *"),
        [
            '11:14: a "*" cannot stand alone; put it in quotes: "*"',
        ],
    ),
    "an open list": (
        instead("payments-*]", "payments-*"),
        [
            '6:13: a list opens here and is never closed; add "]" or a ","',
        ],
    ),
    "a misspelt section": (
        instead("acls:", "acl:"),
        [
            '3:1: unknown option "acl"; did you mean "acls"?',
        ],
    ),
    "kafkas own name for super users": (
        instead("super_users", "super.users"),
        [
            '1:1: unknown option "super.users"; did you mean "super_users"?',
        ],
    ),
    "a misspelt unmatched": (
        instead("unmatched: deny", "unmatched: denied"),
        [
            '2:12: unknown unmatched "denied"; did you mean "deny"?',
        ],
    ),
    "unmatched that is true": (
        instead("unmatched: deny", "unmatched: true"),
        [
            "2:12: unknown unmatched true; known here: allow, deny",
        ],
    ),
    "rules that are a mapping": (
        "acls: {allow: User:a, to: Read, topics: t}\n",
        [
            '1:7: "acls" is a mapping, not a list; write e.g. "acls: [{allow: User:alice, to: Read, topics: orders}]"',
        ],
    ),
    "a rule that is a word": (
        instead(RULE, "  - everything\n"),
        [
            '9:5: "everything" is no rule; write e.g. "{allow: User:alice, to: Read, topics: orders}"',
        ],
    ),
    "a rule that is nothing": (
        instead(RULE, "  -\n"),
        [
            '9:4: nothing is no rule; write e.g. "{allow: User:alice, to: Read, topics: orders}"',
        ],
    ),
    "a misspelt permission": (
        instead("deny: User:*", "dney: User:*"),
        [
            '9:5: unknown option "dney"; did you mean "deny"?',
        ],
    ),
    "an unknown option": (
        instead("from: 10", "host: 10"),
        [
            f'8:5: unknown option "host"; known here: {OPTIONS}',
        ],
    ),
    "neither allow nor deny": (
        instead("  - deny: User:*\n    to", "  - to"),
        [
            '9:5: the rule neither allows nor denies; write e.g. "allow: User:alice"',
        ],
    ),
    "both allow and deny": (
        instead("  - deny: User:*\n", "  - deny: User:*\n    allow: User:bob\n"),
        [
            '9:11: "allow" and "deny" stand in one rule; make two of it',
        ],
    ),
    "no operation": (
        instead("    to: All\n", ""),
        [
            '9:5: "to" is missing; write e.g. "to: [Read, Describe]"',
        ],
    ),
    "no resource": (
        instead("    topics: secrets\n", ""),
        [
            '9:5: the rule is about nothing; write e.g. "topics: orders"',
        ],
    ),
    "a misspelt resource": (
        instead("topics: secrets", "topic: secrets"),
        [
            '11:5: unknown option "topic"; did you mean "topics"?',
        ],
    ),
    "an option twice": (
        instead("    to: All\n", "    to: All\n    to: Read\n"),
        [
            '11:5: "to" stands in line 10 already; keep one of the two',
        ],
    ),
    "an option without a value": (
        instead("topics: secrets", "topics:"),
        [
            '11:12: "topics" has no value; write e.g. "topics: [orders, payments-*]"',
        ],
    ),
    "an empty list": (
        instead("to: All", "to: []"),
        [
            '10:9: "to" is empty; write e.g. "to: [Read, Describe]"',
        ],
    ),
    "a misspelt operation": (
        instead("Read", "Raed"),
        [
            '5:10: unknown operation "Raed"; did you mean "Read"?',
        ],
    ),
    "operation Any": (
        instead("to: All", "to: Any"),
        [
            f'10:9: unknown operation "Any"; known here: {OPERATIONS}',
        ],
    ),
    "an operation that is a number": (
        instead("to: All", "to: 2"),
        [
            f'10:9: unknown operation "2"; known here: {OPERATIONS}',
        ],
    ),
    "an operation of another system": (
        instead("to: All", "to: Consume"),
        [
            f'10:9: unknown operation "Consume"; known here: {OPERATIONS}',
        ],
    ),
    "a principal without a type": (
        instead("User:alice", "alice"),
        [
            '4:12: "alice" has no type; write "User:alice"',
        ],
    ),
    "a principal that is a star": (
        instead("deny: User:*", 'deny: "*"'),
        [
            '9:11: "*" has no type; write "User:*"',
        ],
    ),
    "a principal that is a mapping": (
        instead("User:alice", "{User: alice}"),
        [
            '4:12: a mapping is not a principal; write e.g. "User:alice"',
        ],
    ),
    "a super user without a type": (
        instead("User:admin", "admin"),
        [
            '1:15: "admin" has no type; write "User:admin"',
        ],
    ),
    "a star inside a name": (
        instead("payments-*", "pay*-eu"),
        [
            '6:22: a "*" inside "pay*-eu" has no meaning; write {literal: \'pay*-eu\'} if it belongs to the name',
        ],
    ),
    "two stars": (
        instead("payments-*", "payments-**"),
        [
            '6:22: a "*" inside "payments-**" has no meaning; '
            "write {literal: 'payments-**'} if it belongs to the name",
        ],
    ),
    "a number as a topic": (
        instead("topics: secrets", "topics: 2024"),
        [
            "11:13: 2024 is not text here; put it in quotes: '2024'",
        ],
    ),
    "a boolean as a topic": (
        instead("topics: secrets", "topics: [true]"),
        [
            "11:14: true is not text here; put it in quotes: 'true'",
        ],
    ),
    "an empty name": (
        instead("topics: secrets", 'topics: ""'),
        [
            '11:13: "" is not a name; write e.g. "orders"',
        ],
    ),
    "an unknown pattern type": (
        instead("topics: secrets", "topics: {prefix: secrets}"),
        [
            '11:13: unknown pattern type "prefix"; did you mean "prefixed"?',
        ],
    ),
    "two pattern types": (
        instead("topics: secrets", "topics: {literal: a, prefixed: b}"),
        [
            "11:13: 2 options stand where one name must; write {literal: x} or {prefixed: x}",
        ],
    ),
    "a pattern without a name": (
        instead("topics: secrets", "topics: {prefixed: }"),
        [
            '11:13: nothing is not a name; write e.g. "orders"',
        ],
    ),
    "a cluster that is false": (
        instead("topics: secrets", "cluster: false"),
        [
            '11:14: false says nothing; leave "cluster" out',
        ],
    ),
    "a network with bits of an address": (
        instead("10.0.0.0/8", "10.1.2.3/8"),
        [
            '8:11: "10.1.2.3/8" is an address inside a network; write "10.0.0.0/8"',
        ],
    ),
    "a network on one interface": (
        instead("10.0.0.0/8", "fe80::%eth0/10"),
        [
            '8:11: "fe80::%eth0/10" names an interface, which a network cannot; write "fe80::/10"',
        ],
    ),
    "a network that is too wide": (
        instead("10.0.0.0/8", "10.0.0.0/33"),
        [
            '8:11: "10.0.0.0/33" is not a network; write e.g. "10.0.0.0/8" or "fd00::/8"',
        ],
    ),
    "a network of names": (
        instead("10.0.0.0/8", "corp/24"),
        [
            '8:11: "corp/24" is not a network; write e.g. "10.0.0.0/8" or "fd00::/8"',
        ],
    ),
    "a host that is a number": (
        instead("10.0.0.0/8", "10"),
        [
            '8:11: 10 is not a host; write an address, a network as "10.0.0.0/8", or "*"',
        ],
    ),
    "an unknown mechanism": (
        instead("to: All", "to: All\n    mechanism: SCRAM-SHA-215"),
        [
            '11:16: unknown mechanism "SCRAM-SHA-215"; did you mean "SCRAM-SHA-256"?',
        ],
    ),
    "tls that is yes": (
        instead("to: All", "to: All\n    tls: yes"),
        [
            '11:10: "tls" is "yes", not true or false; write e.g. "tls: true"',
        ],
    ),
    "a listener that is a number": (
        instead("to: All", "to: All\n    listener: 9092"),
        [
            "11:15: 9092 is not text here; put it in quotes: '9092'",
        ],
    ),
    "a day in German": (
        instead("to: All", "to: All\n    during: {days: Mo-Fr}"),
        [
            '11:20: unknown day "Mo"; did you mean "Mon"?',
        ],
    ),
    "hours after midnight": (
        instead("to: All", "to: All\n    during: {hours: 8-18}"),
        [
            '11:21: "8-18" is not a time of day; write e.g. "08:00-18:00"',
        ],
    ),
    "hours that no day has": (
        instead("to: All", "to: All\n    during: {hours: 20:00-26:00}"),
        [
            '11:21: "20:00-26:00" is no time of any day; times are 00:00 to 24:00',
        ],
    ),
    "hours that are none": (
        instead("to: All", "to: All\n    during: {hours: 08:00-08:00}"),
        [
            '11:21: "08:00-08:00" begins where it ends; leave it out for the whole day',
        ],
    ),
    "a zone that is none": (
        instead("to: All", "to: All\n    during: {zone: Europe/Zurch}"),
        [
            '11:20: unknown time zone "Europe/Zurch"; did you mean "Europe/Zurich"?',
        ],
    ),
    "a date that is none": (
        instead("to: All", "to: All\n    during: {since: 2026-02-30}"),
        [
            '11:21: "2026-02-30" is not a date; write e.g. "2026-01-31" or "2026-01-31T08:00"',
        ],
    ),
    "a date with a zone": (
        instead("to: All", "to: All\n    during: {since: 2026-02-20T00:00Z}"),
        [
            '11:21: "2026-02-20T00:00Z" has a zone of its own; leave it out, and say it once with "zone:"',
        ],
    ),
    "a window that ends before it begins": (
        instead("to: All", "to: All\n    during: {since: 2026-03-01, before: 2026-02-01}"),
        [
            '11:41: no moment is left after "since"; write a later one',
        ],
    ),
    "an unknown option of a window": (
        instead("to: All", "to: All\n    during: {until: 2026-02-01}"),
        [
            '11:14: unknown option "until"; known here: before, days, hours, since, zone',
        ],
    ),
    "a window that is a word": (
        instead("to: All", "to: All\n    during: weekdays"),
        [
            '11:13: "during" is "weekdays", not a mapping of options; '
            'write e.g. "during: {days: Mon-Fri, hours: 08:00-18:00}"',
        ],
    ),
    "an unset variable": (
        instead("User:alice", "User:${WHO}"),
        [
            '4:17: environment variable "WHO" is not set; set it, or give a default: "${WHO:-value}"',
        ],
    ),
    "many mistakes": (
        """\
super_user: [admin]
unmatched: dney
acls:
  - alow: User:alice
    to: [Raed, Write, Wrte]
    topics: [a*b, 7]
    from: 10.0.0.1/8
  - deny: bob
    tp: All
""",
        [
            '1:1: unknown option "super_user"; did you mean "super_users"?',
            '2:12: unknown unmatched "dney"; did you mean "deny"?',
            '4:5: unknown option "alow"; did you mean "allow"?',
            '5:10: unknown operation "Raed"; did you mean "Read"?',
            '5:23: unknown operation "Wrte"; did you mean "Write"?',
            '6:14: a "*" inside "a*b" has no meaning; write {literal: \'a*b\'} if it belongs to the name',
            "6:19: 7 is not text here; put it in quotes: '7'",
            '7:11: "10.0.0.1/8" is an address inside a network; write "10.0.0.0/8"',
            '8:5: "to" is missing; write e.g. "to: [Read, Describe]"',
            '8:5: the rule is about nothing; write e.g. "topics: orders"',
            '8:11: "bob" has no type; write "User:bob"',
            f'9:5: unknown option "tp"; known here: {OPTIONS}',
        ],
    ),
}


def test_there_are_enough_mistakes_to_be_sure() -> None:
    assert len(MISTAKES) >= 40


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_with_its_place_and_a_way_out(mistake: str) -> None:
    text, expected = MISTAKES[mistake]
    snapshot, problems = examine_text(text, "acl.yaml", {})
    assert [str(problem) for problem in problems] == [f"acl.yaml:{line}" for line in expected]
    assert snapshot is None


def test_a_good_file_is_rules_with_places() -> None:
    snapshot, problems = examine_text(GOOD, "acl.yaml", {})
    assert not problems
    assert snapshot is not None
    assert [rule.place for rule in snapshot.rules] == [(4, 5), (9, 5)]
    alice = Client("User:alice", "10.1.2.3")
    assert snapshot.decide(alice, Operation.READ, ResourceType.TOPIC, "payments-eu").allowed
    assert snapshot.decide(alice, Operation.READ, ResourceType.TOPIC, "payments-eu").place == (4, 5)
    assert not snapshot.decide(alice, Operation.WRITE, ResourceType.TOPIC, "orders").allowed


def test_the_smallest_file_says_that_nobody_may() -> None:
    for text in ("acls:\n", "acls: []\n", "super_users:\n"):
        snapshot, problems = examine_text(text, "acl.yaml", {})
        assert not problems
        assert snapshot is not None
        assert not snapshot.decide(Client("User:a"), Operation.READ, ResourceType.TOPIC, "t").allowed


def test_a_warning_passes() -> None:
    snapshot, problems = examine_text(instead("topics: secrets", "topics: a b"), "acl.yaml", {})
    assert [problem.warning for problem in problems] == [True]
    assert snapshot is not None


def test_values_come_from_the_environment() -> None:
    text = instead("User:admin", "User:${ADMIN}")
    snapshot, problems = examine_text(text, "acl.yaml", {"ADMIN": "root"})
    assert not problems
    assert snapshot is not None
    assert snapshot.file.super_users == ("User:root",)


def test_files_that_say_the_same_have_the_same_id() -> None:
    one, other = (examine_text(text, "acl.yaml", {})[0] for text in (GOOD, f"# again\n{GOOD}"))
    another = examine_text(instead("orders", "order"), "acl.yaml", {})[0]
    assert one is not None
    assert other is not None
    assert another is not None
    assert one.id == other.id != another.id


def test_a_file_is_loaded_or_refused_whole(tmp_path: Path) -> None:
    file = tmp_path / "acl.yaml"
    with pytest.raises(BadFileError, match="there is no such file"):
        load(file)
    file.write_text(instead("Read", "Raed"))
    with pytest.raises(BadFileError, match=r'acl\.yaml:5:10: unknown operation "Raed"; did you mean "Read"\?'):
        load(file)
    assert examine(file)[0] is None
    file.write_text(GOOD)
    assert len(load(file).rules) == 2


characters = st.sampled_from("ab*:-[]{}'\"# \n\t&!%@0\u2028\x00")


@given(st.lists(st.tuples(st.integers(0, len(GOOD)), st.integers(0, 3), st.text(characters, max_size=3)), max_size=3))
@example([(16, 3, "\n\n")])  # a name of two lines
@example([(64, 0, "\u2028")])  # a name that begins with what cannot be seen
def test_whatever_a_file_says_the_answer_is_rules_or_problems(edits: list[tuple[int, int, str]]) -> None:
    text = GOOD
    for at, length, new in edits:
        text = text[:at] + new + text[at + length :]
    snapshot, problems = examine_text(text, "acl.yaml", {})
    assert snapshot is not None or problems
    for problem in problems:
        assert "\n" not in str(problem)
        assert "; " in problem.message
        assert problem.place is not None
        assert problem.place.line <= text.count("\n") + 1
