"""Triggers of rules, as people write them."""

import pytest
from pydantic import ValidationError

from rules.when import When


def test_all_of_it_can_be_left_out() -> None:
    assert When() == When.model_validate({})


def test_durations_are_seconds_and_one_number_may_stand_where_several_may() -> None:
    when = When.model_validate({"nth": 3, "from": "10s", "for": "500ms", "probability": 1})
    assert (when.nth, when.from_, when.for_, when.probability) == ((3,), 10.0, 0.5, 1.0)
    assert When(nth=(1, 4)).last == 4
    assert When.model_validate({"from": "0s", "for": "5s"}).from_ == 0.0


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("nth", 0, "0 counts nothing; numbers begin at 1"),
        ("nth", (), "too_short"),
        ("times", "twice", '"twice" counts nothing'),
        ("after", True, "true counts nothing"),
        ("probability", 0, "0 is no probability; it is above 0, and at the most 1"),
        ("probability", 1.5, "1.5 is no probability"),
        ("from", 10, '10 has no unit; write e.g. "10s"'),
        ("for", "0s", "a duration of 0 lets nothing through"),
        ("after_rule", 5, "5 is not text here"),
        ("while_rule", None, "no value"),
    ],
)
def test_a_wrong_value_is_told_with_a_way_out(option: str, value: object, said: str) -> None:
    with pytest.raises(ValidationError) as error:
        When.model_validate({option: value})
    assert said in str(error.value)


def test_the_rules_that_it_depends_on_are_known_by_option() -> None:
    assert When(after_rule="a", while_rule="b").others == {"after_rule": "a", "while_rule": "b"}
    assert When().others == {}
