"""`doorkeeper explain`."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from proxy.cli import main

FILE = """\
super_users: [User:admin]
acls:
  - allow: User:alice
    to: [Read, Describe]
    topics: [orders, payments-*]
    from: [10.0.0.0/8, "0:0:0:0:0:0:0:1"]
  - deny: User:*
    to: All
    topics: [secrets, more]
  - allow: User:alice
    to: Read
    groups: g
    client_id: app
    listener: clients
    mechanism: PLAIN
    tls: true
    during: {since: 2026-01-01, before: 2026-02-01}
"""


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    file = tmp_path / "acl.yaml"
    file.write_text(FILE)
    return file


def explain(rules: Path, *arguments: str, given: str | None = None) -> Result:
    return CliRunner().invoke(main, ["explain", str(rules), *arguments], input=given)


def about(who: str, operation: str, *more: str) -> tuple[str, ...]:
    return ("--principal", who, "--operation", operation, *more)


def test_what_is_allowed_is_told_with_the_rule_and_what_would_refuse_it(rules: Path) -> None:
    result = explain(rules, *about("User:alice", "Read", "--topic", "orders", "--host", "10.1.2.3"))
    assert result.output == (
        'allowed: User:alice may Read topic "orders"\n'
        f"  {rules}:3:5: {{allow: User:alice, to: [Read, Describe], topics: [orders, payments-*], "
        "from: [10.0.0.0/8, 0:0:0:0:0:0:0:1]}\n"
        "to refuse it:\n"
        f'  {rules}:3:5: take orders out of "topics"\n'
    )
    assert result.exit_code == 0


def test_what_is_refused_is_told_with_what_would_allow_it(rules: Path) -> None:
    result = explain(rules, *about("User:alice", "WRITE", "--topic", "orders", "--host", "10.1.2.3"))
    assert result.output == (
        'refused: User:alice may not Write topic "orders"\n'
        f"  {rules}: no rule allows it\n"
        "nearly allowed by:\n"
        f"  {rules}:3:5: allows [Read, Describe], not Write\n"
        "to allow it:\n"
        f'  {rules}: add under "acls": {{allow: User:alice, to: Write, topics: orders}}\n'
    )
    assert result.exit_code == 1


def test_an_address_may_be_spelt_in_any_way(rules: Path) -> None:
    assert explain(rules, *about("User:alice", "Read", "--topic", "orders", "--host", "::1")).exit_code == 0


def test_what_is_not_said_of_the_client_is_not_known(rules: Path) -> None:
    said = ["--group", "g", "--client-id", "app", "--listener", "clients", "--mechanism", "PLAIN", "--tls"]
    said += ["--at", "2026-01-15"]
    assert explain(rules, *about("User:alice", "Read", *said)).exit_code == 0
    assert explain(rules, *about("User:alice", "Read", *said[:-1], "2026-02-15")).exit_code == 1
    for left_out in ("--client-id", "--listener", "--mechanism"):
        at = said.index(left_out)
        assert explain(rules, *about("User:alice", "Read", *said[:at], *said[at + 2 :])).exit_code == 1
    assert (
        explain(rules, *about("User:alice", "Read", *("--no-tls" if it == "--tls" else it for it in said))).exit_code
        == 1
    )


@pytest.mark.parametrize(
    ("option", "what"),
    [
        (("--transactional-id", "t"), 'transactional id "t"'),
        (("--delegation-token", "t"), 'delegation token "t"'),
        (("--user", "User:t"), 'user "User:t"'),
        (("--cluster",), 'cluster "kafka-cluster"'),
        (("--any", "TransactionalId"), "any transactional id"),
    ],
)
def test_every_type_of_resource_can_be_asked_about(rules: Path, option: tuple[str, ...], what: str) -> None:
    result = explain(rules, *about("User:admin", "Describe", *option))
    assert result.output.startswith(f"allowed: User:admin may Describe {what}\n  {rules}:1:15: ")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "--principal is missing; give e.g. --principal User:alice"),
        (("--principal", "User:a"), "--operation is missing; give e.g. --operation Read"),
        (about("alice", "Read", "--topic", "t"), '"alice" has no type; give --principal User:alice'),
        (about("User:a", "Raed", "--topic", "t"), 'unknown --operation "Raed"; did you mean "Read"?'),
        (about("User:a", "Read", "--any", "topics"), 'unknown --any "topics"; did you mean "Topic"?'),
        (about("User:a", "Read"), "say what it is about, one of: --topic, --group, --cluster, ..., --any"),
        (about("User:a", "Read", "--topic", "t", "--cluster"), "say what it is about, one of: --topic"),
        (about("User:a", "Read", "--topic", "t", "--any", ""), 'unknown --any ""'),
        (about("User:a", "Read", "--topic", "t", "--host", "300.1.1.1"), '--host: "300.1.1.1" is not an IP address; '),
        (about("User:a", "Read", "--topic", "t", "--host", ""), '--host: "" is not an IP address; '),
    ],
)
def test_what_is_no_question_is_a_usage_error(rules: Path, arguments: tuple[str, ...], complaint: str) -> None:
    result = explain(rules, *arguments)
    assert result.exit_code == 2
    assert f"Error: {complaint}" in result.output


def test_a_bad_file_is_told_and_explains_nothing(rules: Path) -> None:
    rules.write_text(FILE.replace("Read,", "Raed,"))
    result = explain(rules, *about("User:alice", "Read", "--topic", "orders"))
    assert result.output == f'{rules}:4:10: unknown operation "Raed"; did you mean "Read"?\n'
    assert result.exit_code == 1


def question(**said: object) -> str:
    whole = {"principal": "User:alice", "host": "10.1.2.3", "operation": "Read", "resource_type": "topic"}
    return json.dumps(whole | said) + "\n"


def test_questions_are_answered_line_by_line(rules: Path, tmp_path: Path) -> None:
    asked = [
        question(name="orders"),
        question(name="secrets"),
        question(name="other"),
        question(),
        question(principal="User:admin", operation="ALTER_CONFIGS", resource_type="TOPIC", name="secrets"),
    ]
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(asked))
    result = explain(rules, "--questions", str(file))
    assert [json.loads(line) for line in result.output.splitlines()] == [
        {"allowed": True, "rule": f"{rules}:3:5"},
        {"allowed": False, "rule": f"{rules}:7:5"},
        {"allowed": False, "rule": None},
        {"allowed": True, "rule": f"{rules}:3:5"},
        {"allowed": True, "rule": f"{rules}:1:15"},
    ]
    assert result.exit_code == 0


def test_questions_may_begin_with_a_byte_order_mark(rules: Path, tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(question(name="orders", allowed=True), encoding="utf-8-sig")
    assert explain(rules, "--questions", str(file)).exit_code == 0
    assert explain(rules, "--questions", "-", given="\ufeff" + question(name="orders", allowed=True)).exit_code == 0


def test_a_question_may_say_what_the_answer_should_be(rules: Path) -> None:
    right = question(name="orders", allowed=True) + question(name="secrets", allowed=False)
    assert explain(rules, "--questions", "-", given=right).exit_code == 0
    wrong = question(name="secrets", allowed=True)
    result = explain(rules, "--questions", "-", given=right + wrong)
    assert result.exit_code == 1
    assert result.stderr == f"<stdin>:3: refused by {rules}:7:5, which it should not be\n"


def test_a_line_that_is_no_question_keeps_its_place_among_the_answers(rules: Path) -> None:
    result = explain(rules, "--questions", "-", given="{}\n" + question(name="orders"))
    first, second = (json.loads(line) for line in result.stdout.splitlines())
    assert first == {"allowed": False, "rule": None, "error": '<stdin>:1: "principal" is missing; add it'}
    assert second["allowed"]
    assert result.exit_code == 1


@pytest.mark.parametrize(
    ("option", "name"),
    [
        (("--principal", "User:alice"), "--principal"),
        (("--cluster",), "--cluster"),
        (("--no-tls",), "--tls/--no-tls"),
        (("--any", ""), "--any"),
        (("--host", ""), "--host"),
    ],
)
def test_questions_of_a_file_stand_alone(rules: Path, option: tuple[str, ...], name: str) -> None:
    result = explain(rules, "--questions", "-", *option, given=question(name="orders"))
    assert result.exit_code == 2
    assert f"Error: with --questions, each line says all of a question; leave {name} out" in result.output


@pytest.mark.parametrize("given", ["", "\n\n"])
def test_a_file_without_questions_is_no_success(rules: Path, given: str) -> None:
    result = explain(rules, "--questions", "-", given=given)
    way_out = "write one a line, as explain --help shows"
    assert (result.stdout, result.stderr) == ("", f"<stdin>: there is no question in it; {way_out}\n")
    assert result.exit_code == 1


def test_a_name_moves_no_cursor(rules: Path) -> None:
    result = explain(rules, "--principal", "User:a\x9b\u202e", "--operation", "Read", "--topic", "x\ny")
    assert result.stdout.startswith(r'refused: User:a\x9b\u202e may not Read topic "x\ny"')
