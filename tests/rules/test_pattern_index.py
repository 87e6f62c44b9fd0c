"""Rules found by a name."""

from hypothesis import given
from hypothesis import strategies as st

from rules.pattern_index import PatternIndex
from rules.values import EVERY, Pattern
from rules.vocabulary import PatternType

names = st.text(alphabet="ab*", max_size=4)
patterns = st.builds(Pattern, st.sampled_from(PatternType), names)


def shelf(of: list[Pattern]) -> PatternIndex[int]:
    result: PatternIndex[int] = PatternIndex()
    for index, pattern in enumerate(of):
        result.put(pattern, index)
    result.close()
    return result


@given(st.lists(patterns, max_size=8), names)
def test_what_is_about_a_name_is_what_holds_it(of: list[Pattern], name: str) -> None:
    assert set(shelf(of).about(name)) == {index for index, pattern in enumerate(of) if pattern.holds(name)}


@given(st.lists(patterns, max_size=8), patterns, names)
def test_what_covers_a_pattern_holds_every_name_of_it(of: list[Pattern], pattern: Pattern, name: str) -> None:
    if pattern.holds(name):
        for index in shelf(of).covering(pattern):
            assert of[index].holds(name)


def test_a_pattern_covers_itself() -> None:
    for pattern in (EVERY, Pattern(PatternType.LITERAL, "a"), Pattern(PatternType.PREFIXED, "a")):
        assert list(shelf([pattern]).covering(pattern)) == [0]


def test_an_own_name_comes_before_beginnings_and_the_longest_of_these_first() -> None:
    of = [
        EVERY,
        Pattern(PatternType.PREFIXED, "a"),
        Pattern(PatternType.PREFIXED, "ab"),
        Pattern(PatternType.LITERAL, "abc"),
    ]
    assert list(shelf(of).about("abc")) == [3, 2, 1, 0]


@given(st.lists(patterns, max_size=8))
def test_everything_that_was_put_is_there_with_its_pattern(of: list[Pattern]) -> None:
    assert {(of[index], index) for index in range(len(of))} == {(pattern, thing) for pattern, thing in shelf(of).all()}
