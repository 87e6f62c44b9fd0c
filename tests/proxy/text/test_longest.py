from __future__ import annotations

import pytest
import yaml

from proxy.text.longest import LONGEST, check_values
from proxy.text.places import Place, read
from proxy.text.syntax import described


@pytest.mark.parametrize(
    ("before", "place"), [("", Place(1, 1)), ("a: 1\n", Place(2, 1)), ("a: 1\nb: [1,", Place(2, 7))]
)
def test_a_value_without_an_end_is_refused_where_it_begins(before: str, place: Place) -> None:
    text = before + "x" * (LONGEST + 1)
    with pytest.raises(yaml.MarkedYAMLError) as refused:
        read(text, {})
    assert described(refused.value, text) == (
        place,
        "a value begins here that is far too long; nothing here needs a megabyte",
    )


@pytest.mark.parametrize(
    "text",
    [
        "x" * LONGEST,
        "a: 1\n" * LONGEST,
        "[" + "1, " * LONGEST + "1]",
        "a: " + "x" * (LONGEST - 10) + "\nb: " + "y" * (LONGEST - 10),
    ],
)
def test_values_of_any_other_length_are_read(text: str) -> None:
    check_values(text)


def test_a_list_on_one_line_may_be_as_long_as_a_file() -> None:
    reading = read("a: [" + ", ".join(["value"] * 200_000) + "]", {})
    assert not reading.problems
    assert len(reading.value["a"]) == 200_000
    assert reading.place(("a", 0)) == Place(1, 5)
