"""The environment in a value."""

import pytest

from proxy.text.environment import Parameters, hidden, secrets, shield, substitute, unshield
from proxy.text.yaml_document import MOST

ENVIRONMENT = {"HOST": "kafka", "EMPTY": "", "YAML": "a: [b]"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${HOST}:9092", "kafka:9092"),
        ("${HOST}${HOST}", "kafkakafka"),
        ("${NONE:-x}", "x"),
        ("${NONE:-}", ""),
        ("${EMPTY:-x}", "x"),
        ("${EMPTY}", ""),
        ("$HOST $ 5", "$HOST $ 5"),
        ("$${HOST}", "${HOST}"),
        ("$$$$", "$$"),
        ("${YAML}", "a: [b]"),
        ("${NONE:-$5 and $$}", "$5 and $$"),
        ("${NONE:-é, \u2028}", "é, \u2028"),
    ],
)
def test_a_reference_gives_its_value(text: str, expected: str) -> None:
    assert substitute(text, ENVIRONMENT, MOST) == (expected, [])
    assert substitute(shield(text), ENVIRONMENT, MOST) == (expected, [])


@pytest.mark.parametrize(
    ("text", "position"),
    [("${NONE}", 0), ("a${1X}", 1), ("ab${HOST", 2), ("${}", 0), ("${NONE:-${HOST}", 0)],
)
def test_a_reference_that_gives_nothing_is_told_with_its_place(text: str, position: int) -> None:
    _, unset = substitute(text, ENVIRONMENT, MOST)
    assert [problem.position for problem in unset] == [position]


def test_a_file_that_declares_its_own_variables_is_told_which_there_are() -> None:
    (unset,) = substitute("${topc}", Parameters(topic="orders"), MOST)[1]
    assert unset.message == 'unknown parameter "topc"; did you mean "topic"?'


def test_a_shielded_text_is_as_long_as_it_was_and_nothing_in_it_is_yaml() -> None:
    text = "[${A:-b: {c}, # d}]"
    assert len(shield(text)) == len(text)
    assert not set("{:") & set(shield("${A:-b:9}"))


def test_what_only_yaml_1_1_takes_for_a_line_break_is_a_character() -> None:
    text = "a\u2028b\x85c\u2029"
    assert len(shield(text).splitlines()) == 1
    assert unshield(shield(text)) == text


def test_what_a_secret_variable_holds_is_hidden_even_where_a_message_cuts_it_off() -> None:
    environment = {"DB_PASSWORD": "hunter2-hunter2", "HOST": "kafka-1"}
    found = secrets(shield("${HOST}:${DB_PASSWORD}"), environment)
    assert found == {"hunter2-hunter2": "${DB_PASSWORD}"}
    assert hidden('"kafka-1:hunter2-hunter2" is no port', found) == '"kafka-1:${DB_PASSWORD}" is no port'
    assert hidden('"hunter2-hun..." is no port', found) == '"${DB_PASSWORD}..." is no port'
    assert hidden("no port at all", found) == "no port at all"


def test_however_many_begin_on_one_line_none_is_looked_at_twice() -> None:
    text = "${A:-" * 500_000
    assert unshield(shield(text)) == text


def test_so_many_that_give_nothing_are_told_and_no_more() -> None:
    _, unset = substitute("${NONE}" * (MOST + 1), ENVIRONMENT, MOST)
    assert [problem.position for problem in unset] == [7 * number for number in range(MOST)]
