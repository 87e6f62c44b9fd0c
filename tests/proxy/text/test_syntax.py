"""Text that is not YAML."""

import yaml

from proxy.text.places import Place
from proxy.text.syntax import described, place_after
from proxy.text.yaml_document import read


def complaint(text: str) -> tuple[Place, str]:
    try:
        read(text, {})
    except yaml.YAMLError as error:
        return described(error, text)
    raise AssertionError("that was YAML")


def test_a_complaint_without_words_of_ours_still_has_a_place_and_a_way_out() -> None:
    assert complaint("%YAML 3.0\n---\na: 1\n") == (
        Place(1, 1),
        "not YAML: found incompatible YAML document (version 1.* is required); correct this line",
    )


def test_what_opens_and_never_closes_is_placed_where_it_opens() -> None:
    assert complaint("a: 1\nb: [1,\nc: 2\n")[0] == Place(2, 4)


def test_a_star_that_is_no_reference_wants_quotes() -> None:
    for text in ("a: *\n", "a: [*, b]\n"):
        assert complaint(text)[1] == 'a "*" cannot stand alone; put it in quotes: "*"'


def test_a_place_counts_from_1() -> None:
    assert place_after("") == Place(1, 1)
    assert place_after("ab\nc") == Place(2, 2)
