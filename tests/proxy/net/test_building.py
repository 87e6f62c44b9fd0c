"""Things with equal input are built once."""

import pytest

from proxy.net.building import Building
from proxy.net.process import StartError
from proxy.text.problems import BadFileError, Problem


def test_what_is_made_of_the_same_is_kept_and_what_is_not_is_made_anew() -> None:
    first = Building({})
    one, two = first.get(("a", "1"), {"x": 1}, object), first.get(("a", "2"), {"x": 1}, object)
    assert one is not two
    assert first.get(("a", "1"), {"x": 1}, object) is one
    again = Building(first.built)
    assert again.get(("a", "1"), {"x": 1}, object) is one
    assert again.get(("a", "2"), {"x": 2}, object) is not two
    assert again.built.keys() == {("a", "1"), ("a", "2")}


def test_what_is_not_asked_for_any_more_is_not_kept() -> None:
    first = Building({})
    first.get(("a", "1"), None, object)
    assert not Building(first.built).built


def test_all_problems_are_noted() -> None:
    building = Building({})
    with building.part():
        raise StartError("one", "two")
    with building.part():
        raise BadFileError([Problem("a.yaml", None, "three"), Problem("a.yaml", None, "four")])
    with building.part():
        building.get(("a", "1"), None, object)
    assert building.problems == ["one", "two", "a.yaml: three", "a.yaml: four"]
    with pytest.raises(ZeroDivisionError), building.part():
        raise ZeroDivisionError
