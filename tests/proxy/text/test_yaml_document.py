"""A file as plain values, and the place of each."""

import pytest

from proxy.text.places import Place
from proxy.text.yaml_document import MOST, read

TEXT = """\
clusters:
  main: {bootstrap: [a, b]}
no: off
text: "1"
"""


def test_every_value_and_every_name_has_its_place() -> None:
    reading = read(TEXT, {})
    assert reading.value == {"clusters": {"main": {"bootstrap": ("a", "b")}}, "no": "off", "text": "1"}
    assert reading.places[("clusters", "main", "bootstrap", 1)] == Place(2, 25)
    assert reading.keys[("clusters", "main", "bootstrap")] == Place(2, 10)


def test_a_path_that_the_file_lacks_has_the_place_of_what_is_around_it() -> None:
    reading = read(TEXT, {})
    assert reading.place(("clusters", "main", "tls")) == Place(2, 9)
    assert reading.place(("admin", "bind")) == Place(1, 1)


def test_a_value_over_several_lines_keeps_the_place_of_its_beginning() -> None:
    reading = read("a: >\n  x\n  ${NONE}\n", {})
    assert [place for place, _ in reading.problems] == [Place(1, 4)]


def test_a_value_from_the_environment_has_its_own_kind() -> None:
    assert read("workers: ${N}\nname: '${N}'\n", {"N": "4"}).value == {"workers": 4, "name": "4"}


@pytest.mark.parametrize("value", ["*hunter2", "!hunter2", "&hunter2 x", "!hunter2 [a, {b: c}]"])
def test_a_secret_without_quotes_that_yaml_takes_for_something_else_is_not_repeated(value: str) -> None:
    reading = read(f"password: {value}\nnext: 1\n", {})
    assert reading.problems == [(Place(1, 11), f'a secret that begins with "{value[0]}" must stand in quotes')]
    assert reading.value == {"password": None, "next": 1}


@pytest.mark.parametrize("text", ['a: "x\\ud800"', '"\\udfff": 1', "a: ${HALF}", "a: [{b: '${HALF}'}]"])
def test_half_of_a_character_is_a_problem_at_its_place(text: str) -> None:
    reading = read(text, {"HALF": "\udcff"})
    ((_, problem),) = reading.problems
    assert problem.startswith("half of a character stands in this")
    assert "\ud800" not in str(reading.value)


def test_one_value_that_stands_where_a_list_may_has_its_own_place() -> None:
    reading = read("a: {b: 1}\nc: [{b: 1}]\n", {})
    assert reading.written(("a", 0, "b")) == ("a", "b")
    assert reading.place(("a", 0, "b")) == Place(1, 8)
    assert reading.written(("c", 0, "b")) == ("c", 0, "b")


def test_an_item_of_a_list_is_shown_with_its_name_if_it_has_one() -> None:
    text = "a: [x: {b: 1}, y, {p: 1, q: 2}, 5, 'password:z', '${API_TOKEN}']\nc: d\n"
    reading = read(text, {"API_TOKEN": "hunter2"})
    shown = [reading.shown(("a", number)) for number in range(7)]
    assert shown == ["a.0 (x)", "a.1 (y)", "a.2", "a.3", "a.4 (password...)", "a.5 (${API_TOKEN})", "a.6"]
    assert reading.shown(("a", 0, "x", "b")) == "a.0 (x).x.b"
    assert reading.shown(("c", "none")) == "c.none"


def test_a_problem_is_no_reason_to_read_on_for_ever() -> None:
    reading = read(f"a: {'${' * 3 * MOST}\nb: *c\n", {})
    *problems, (place, last) = reading.problems
    assert [place for place, _ in problems] == [Place(1, 4 + 2 * number) for number in range(MOST)]
    assert (place, last) == (
        problems[-1][0],
        "these are 1,000 problems, and nothing after them is read; mend them first",
    )
    assert not reading.is_whole


def test_as_many_problems_as_are_told_are_told_wherever_they_stand() -> None:
    enough, too_many = (read("a:\n" + "  - *b\n" * count, {}) for count in (MOST - 1, MOST))
    assert enough.is_whole
    assert len(enough.problems) == MOST - 1
    assert not too_many.is_whole
    assert len(too_many.problems) == MOST + 1
