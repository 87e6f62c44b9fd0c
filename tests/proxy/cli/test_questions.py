"""Questions to rules as lines of JSON."""

import json
import math

import pytest

from proxy.cli.questions import Answered, QuestionError, QuestionLine, answered, questions
from rules import AccessQuestion, Client, Operation, ResourceType, examine_text

WHOLE = {
    "principal": "User:a",
    "host": "::1",
    "operation": "DescribeConfigs",
    "resource_type": "transactional_id",
    "name": "t",
    "client_id": "c",
    "listener": "l",
    "mechanism": "",
    "tls": False,
    "at": 1.5,
    "allowed": True,
}


def test_a_question_says_all_that_there_is_to_say() -> None:
    client = Client("User:a", "0:0:0:0:0:0:0:1", "c", "l", "", False)
    question = AccessQuestion(client, Operation.DESCRIBE_CONFIGS, ResourceType.TRANSACTIONAL_ID, "t", 1.5)
    assert list(questions([json.dumps(WHOLE), "\n"], "q")) == [QuestionLine("q:1", question, True)]


def test_what_is_not_said_is_not_known() -> None:
    least = {"principal": "User:a", "operation": "Read", "resource_type": "Topic"}
    question = AccessQuestion(Client("User:a"), Operation.READ, ResourceType.TOPIC, None)
    assert list(questions([json.dumps(least)], "q")) == [QuestionLine("q:1", question, None)]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"principal": None}, '"principal" is missing; add it'),
        ({"principal": "a"}, '"a" has no type; write "User:a"'),
        ({"principal": "a\nb"}, r'"a\nb" has no type; write "User:a\nb"'),
        ({"operation": "Raed"}, 'unknown operation "Raed"; did you mean "Read"?'),
        ({"resource_type": "topics"}, 'unknown resource type "topics"; did you mean "Topic"?'),
        ({"hots": "x"}, 'unknown field "hots"; did you mean "host"?'),
        ({"host": "kafka"}, '"host": "kafka" is not an IP address; write that of a client, e.g. "10.1.2.3" or "::1"'),
        ({"name": 7}, '"name" is 7, not text'),
        ({"tls": "yes"}, '"tls" is "yes", not true or false'),
        ({"at": True}, '"at" is true, not a number of seconds since 1970'),
        ({"at": 1e300}, '"at" is 1e+300, not in the years 1970 to 9998; give seconds since 1970'),
        ({"at": -1}, '"at" is -1, not in the years 1970 to 9998; give seconds since 1970'),
        ({"at": math.nan}, "not JSON: NaN is no JSON; correct this line"),
        ({"at": math.inf}, "not JSON: Infinity is no JSON; correct this line"),
        ({"allowed": 1}, '"allowed" is 1, not true or false'),
    ],
)
def test_what_is_no_question_is_told_with_its_line(change: dict[str, object], complaint: str) -> None:
    (error,) = questions([json.dumps(WHOLE | change)], "q")
    assert isinstance(error, QuestionError)
    assert str(error) == f"q:1: {complaint}"


@pytest.mark.parametrize("line", ["{", "[]", "7", '"x"'])
def test_a_line_that_is_no_object_is_told(line: str) -> None:
    (error,) = questions([line], "q")
    assert isinstance(error, QuestionError)


def test_the_name_of_a_file_moves_no_cursor() -> None:
    (error,) = questions(["{"], "q\x1b[2J")
    assert str(error).startswith(r"q\x1b[2J:1: not JSON: ")


def test_an_answer_names_the_rule_that_decided() -> None:
    snapshot, _ = examine_text("acls:\n  - {allow: User:a, to: Read, topics: t}\n", "acl.yaml", {})
    assert snapshot is not None
    question = AccessQuestion(Client("User:a"), Operation.READ, ResourceType.TOPIC, "t")
    answer = answered(question, snapshot, "acl.yaml")
    assert answer == Answered(True, "acl.yaml:2:5")
    assert json.loads(answer.line) == {"allowed": True, "rule": "acl.yaml:2:5"}
