"""Values that a program sent are checked against a declared section; each problem has a path."""

import pytest
from pydantic import Field

from proxy.text.file import Section
from proxy.text.plain import examine, shown_path
from proxy.text.quantities import Seconds


class Below(Section):
    time: Seconds = Field(description="How long.", examples=["10s"])


class Whole(Section):
    each: tuple[Below, ...] = Field(default=(), description="Several.", examples=["[]"])


def told(value: object) -> list[tuple[str, str]]:
    _, found = examine(Whole, value, ("sent", 2))
    return [(shown_path(finding.path), finding.message) for finding in found]


def test_what_is_right_is_the_section() -> None:
    found, problems = examine(Whole, {"each": [{"time": "2s"}]})
    assert not problems
    assert found is not None
    assert [below.time for below in found.each] == [2.0]


@pytest.mark.parametrize(
    ("value", "place", "message"),
    [
        ({"each": [{"time": 2}]}, "sent[2].each[0].time", "2 has no unit"),
        ({"each": [{"time": "2s"}, {}]}, "sent[2].each[1]", '"time" is missing'),
        ({"eech": []}, "sent[2].eech", 'did you mean "each"?'),
        ({"each": {"time": "2s"}}, "sent[2].each", '"each" is a mapping, not a list'),
        ([], "sent[2]", "a mapping of options must stand here"),
        ("${HOME}", "sent[2]", "a mapping of options must stand here"),
        ({"each": [{"time": "${HOME}"}]}, "sent[2].each[0].time", '"${HOME}" is not a duration'),
    ],
)
def test_what_is_wrong_is_told_at_its_path(value: object, place: str, message: str) -> None:
    ((path, said),) = told(value)
    assert path == place
    assert message in said


def test_what_is_nested_without_end_is_refused() -> None:
    value: object = 1
    for _ in range(10_000):
        value = {"each": value}
    assert told(value) == [("sent[2]", "more than 20 levels deep")]
