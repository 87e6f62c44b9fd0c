"""Mistakes in scenario files: each is reported with its place and a way out, and all of a file at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from proxy.text.problems import BadFileError
from tests.acl.language import CLOSED, in_version, span
from tests.acl.load import examined, load

RIGHT = """\
scenarios:
  - name: a reader may not write
    given: {topics: [orders], acls: [{allow: User:alice, to: Read, topics: orders}]}
    when: {as: alice, api: Produce, versions: all, request: {topicData: [{name: orders}]}}
    then: {orders: TOPIC_AUTHORIZATION_FAILED}
"""
STEPS = """\
scenarios:
  - name: two steps
    steps:
      - {as: alice, api: Metadata, request: {topics: []}}
      - {as: alice, api: Fetch, then: NONE}
"""


def problems(text: str) -> list[str]:
    try:
        examined(text, "x.yaml")
    except BadFileError as error:
        return [str(problem) for problem in error.problems]
    return []


def test_a_right_file_has_no_problem() -> None:
    assert problems(RIGHT) == []
    assert problems(STEPS) == []


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("given:", "givn:", '3:5: unknown option "givn"; did you mean "given"?'),
        ("topics: [orders], acls", "topic: [orders], acls", '3:13: unknown option "topic"; did you mean "topics"?'),
        ("topics: [orders], acls", "topics: 3, acls", '3:21: 3 is no list of topics; write e.g. "[orders]" or '),
        ("to: Read", "to: Raed", '3:62: unknown operation "Raed"; did you mean "Read"?'),
        ("to: Read, ", "", '3:38: "to" is missing; write e.g. "to: [Read, Describe]"'),
        ("topics: orders}", "}", '3:38: the rule is about nothing; write e.g. "topics: orders"'),
        ("User:alice, to: Read", '"User:*", to: Write', "3:38: this holds for everybody, in every scenario; say who, "),
        ("as: alice, ", "", '4:11: "as" is missing; write e.g. "as: alice"'),
        ("api: Produce", "api: Prodcue", '4:28: unknown API "Prodcue"; did you mean "Produce"?'),
        ("versions: all", "versions: some", '4:47: "some" are no versions; write "all", "3", "0-4" or "5+"'),
        ("versions: all", "versions: 40+", "4:47: Produce has versions 0 to 13; write one of these"),
        ("topicData", "topcData", '4:72: Produce request has no field "topcData"; did you mean "topicData"?'),
        (
            "{name: orders}",
            "{nam: orders}",
            '4:80: Produce request, topicData has no field "nam"; did you mean "name"?',
        ),
        (
            "TOPIC_AUTHORIZATION_FAILED",
            "TOPIC_AUTHORISATION_FAILED",
            '5:20: unknown error "TOPIC_AUTHORISATION_FAILED"; did ',
        ),
        ("    then: {orders: TOPIC_AUTHORIZATION_FAILED}\n", "", "2:5: nothing is said to come of it; write "),
        ("    when:", "    wen:", '4:5: unknown option "wen"; did you mean "when"?'),
    ],
)
def test_a_mistake_is_told_where_it_is(right: str, wrong: str, told: str) -> None:
    assert right in RIGHT
    found = problems(RIGHT.replace(right, wrong, 1))
    assert len(found) == 1, found
    assert found[0].startswith(f"x.yaml:{told}")


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("then: NONE", "then: {v0-4: NON}", '5:46: unknown error "NON"; did you mean "NONE"?'),
        ("then: NONE", "thn: NONE", '5:33: unknown option "thn"; did you mean "then"?'),
        ("topics: []", "topic: []", '4:53: Metadata request has no field "topic"; did you mean "topics"?'),
        ("    steps:", "    then: NONE\n    steps:", '2:5: "then" and "shows" belong to each of the steps; move '),
    ],
)
def test_a_mistake_in_a_step_is_told_where_it_is(right: str, wrong: str, told: str) -> None:
    found = problems(STEPS.replace(right, wrong, 1))
    assert len(found) == 1, found
    assert found[0].startswith(f"x.yaml:{told}")


def test_a_scenario_has_a_request_or_steps() -> None:
    assert problems("scenarios: [{name: empty}]") == [
        'x.yaml:1:13: a scenario has either "when" or "steps"; write one of the two'
    ]


def test_where_all_is_open_no_rule_may_close_it_to_other_scenarios() -> None:
    found = problems("unmatched: allow\n" + RIGHT.replace("topics: orders}", "groups: '*'}"))
    assert [one.partition(";")[0] for one in found] == [
        "x.yaml:4:38: without this rule everybody may, in every scenario"
    ]


def test_all_mistakes_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(RIGHT.replace("Produce", "Produced").replace("given", "givn"))
    (tmp_path / "b.yaml").write_text(RIGHT.replace("api", "app"))
    with pytest.raises(BadFileError) as raised:
        load(tmp_path)
    assert [str(problem).partition(":")[0] for problem in raised.value.problems] == ["a.yaml", "a.yaml", "b.yaml"]


def test_what_is_said_of_some_versions_is_said_of_no_others() -> None:
    then = {"v0-2": {"a": "NONE"}, "v3+": CLOSED, "b": "NONE"}
    assert in_version(then, 1) == {"a": "NONE", "b": "NONE"}
    assert in_version(then, 3) == CLOSED
    assert in_version("NONE", 7) == "NONE"
    assert (span("3"), span("v0-4"), 50 in span("5+")) == (range(3, 4), range(5), True)
