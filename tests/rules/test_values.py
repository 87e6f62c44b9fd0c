"""The values in a rule, as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import PydanticCustomError

from rules.values import EVERY, Pattern, cluster, mechanism, operation, pattern, principal, text
from rules.vocabulary import Operation, PatternType

LITERAL, PREFIXED = PatternType.LITERAL, PatternType.PREFIXED
patterns = st.builds(Pattern, st.sampled_from(PatternType), st.text(alphabet="ab*é ", max_size=4))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("orders", Pattern(LITERAL, "orders")),
        ("payments-*", Pattern(PREFIXED, "payments-")),
        ("*", EVERY),
        ({"literal": "a*"}, Pattern(LITERAL, "a*")),
        ({"prefixed": "*"}, Pattern(PREFIXED, "*")),
        ({"prefixed": ""}, Pattern(PREFIXED, "")),
        ({"literal": "*"}, EVERY),
    ],
)
def test_a_name_says_which_names_it_means(value: object, expected: Pattern) -> None:
    assert pattern(value) == expected


@given(patterns)
def test_a_pattern_is_written_as_it_is_read(one: Pattern) -> None:
    assert pattern(one.written) == one


@pytest.mark.parametrize(
    ("one", "name", "holds"),
    [
        (Pattern(LITERAL, "a"), "a", True),
        (Pattern(LITERAL, "a"), "ab", False),
        (Pattern(PREFIXED, "a"), "ab", True),
        (Pattern(PREFIXED, ""), "", True),
        (Pattern(PREFIXED, "*"), "a", False),
        (EVERY, "a", True),
        (EVERY, "*", True),
        (EVERY, "*a", False),  # as StandardAuthorizer has it
    ],
)
def test_a_pattern_holds_the_names_it_means(one: Pattern, name: str, holds: bool) -> None:
    assert one.holds(name) is holds


@pytest.mark.parametrize("value", ["a*b", "a**", "", 7, True, None, {"x": "y"}, {}, {"literal": "a", "prefixed": "b"}])
def test_what_is_no_name_is_refused_with_a_way_out(value: object) -> None:
    with pytest.raises(PydanticCustomError, match="; "):
        pattern(value)


def test_the_cluster_has_one_name() -> None:
    assert cluster(True) == Pattern(LITERAL, "kafka-cluster")
    assert cluster("kafka-*") == Pattern(PREFIXED, "kafka-")
    with pytest.raises(PydanticCustomError, match="leave"):
        cluster(False)


def test_a_principal_has_a_type() -> None:
    assert principal("User:CN=a:b") == "User:CN=a:b"
    with pytest.raises(PydanticCustomError, match='write "User:alice"'):
        principal("alice")


def test_an_operation_and_a_mechanism_are_words() -> None:
    assert operation("IDEMPOTENT_WRITE") is Operation.IDEMPOTENT_WRITE
    assert mechanism("SCRAM-SHA-512") == "SCRAM-SHA-512"
    with pytest.raises(PydanticCustomError, match='did you mean "Write"'):
        operation("Wriet")
    with pytest.raises(PydanticCustomError, match='did you mean "SCRAM-SHA-256"'):
        mechanism("SCRAM_SHA_256")


def test_what_yaml_reads_as_something_else_wants_quotes() -> None:
    for value, quoted in ((7, "'7'"), (True, "'true'"), (1.5, "'1.5'")):
        with pytest.raises(PydanticCustomError, match=f"put it in quotes: {quoted}"):
            text(value, "name", "orders")
