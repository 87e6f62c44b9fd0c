"""All mistakes in a scenario are reported at once, each with its place and the nearest valid word."""

from pathlib import Path

import pytest

from proxy.scenarios.reading import read_scenario

FAULT = "faults: {do: hold}"


def told(tmp_path: Path, text: str, **setting: str) -> list[str]:
    """Every problem of a text, without the file's name."""
    file = tmp_path / "scenario.yaml"
    file.write_text(text)
    _, problems = read_scenario(file, setting).result()
    return [str(problem).removeprefix(f"{file}:") for problem in problems]


def steps(*lines: str) -> str:
    return "about: x\nsteps:\n" + "".join(f"  - {line}\n" for line in lines)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (steps("{fr: 5s}"), '3:6: unknown option "fr"; did you mean "for"?'),
        (
            steps("{name: x, for: 5s, faults: {do: {eror: NOT_CONTROLLER}}}"),
            '3:38: unknown option "eror"; did you mean "error"?',
        ),
        (
            steps("{for: 5s, faults: [{match: {api: Prodce}, do: hold}]}"),
            '3:38: unknown api "Prodce"; did you mean "Produce"?',
        ),
        (steps("{for: 5}"), '3:11: 5 has no unit; write e.g. "5s"; units are ms, s, m, h, d'),
        (
            steps(f"{{{FAULT}}}"),
            '3:14: nothing says when these faults end; say how long ("for: 5s"), or until when ("expect: {fired: 1}")',
        ),
        (
            steps("{name: x}"),
            '3:5: nothing happens in this step; say how long ("for: 5s"), or until when ("expect: {fired: 1}")',
        ),
        (
            steps("{parallel: [{for: 1s}], for: 5s}"),
            '3:34: a step with "parallel" has nothing else in it; put it into a step of its own',
        ),
        (steps("{for: 1s, parallel: []}"), '3:25: "parallel" is empty; write e.g. "parallel: [{for: 5s}]"'),
        (
            steps("{name: one, for: 1s}", "{name: one, for: 1s}"),
            '4:12: another step is called "one" too; give each its own name',
        ),
        (
            steps("{name: one, for: 1s}", "{after: oen, for: 1s}"),
            '4:13: no step before this one is called "oen"; did you mean "one"?',
        ),
        (
            steps("{name: one, after: one, for: 1s}"),
            '3:24: "one" is this step itself, and no step before this one; leave it out',
        ),
        (
            steps("{after: one, for: 1s}", "{name: one, for: 1s}"),
            '3:13: "one" is no step before this one; put it there',
        ),
        (
            "about: x\nsteps: [wait]",
            '2:9: "steps" is "wait", not a mapping of options; write e.g. "steps: [{for: 5s}]"',
        ),
        (
            steps("{name: one, parallel: [{name: two, after: one, for: 1s}]}"),
            '3:47: this step is in "one"; leave it out',
        ),
        (
            steps(
                "{for: 1s, faults: {name: lost, do: hold}}",
                "{for: 1s, faults: {name: two, do: hold, when: {after_rule: lost}}}",
            ),
            '4:64: "lost" is in force in another step; put it into this step, or under "always"',
        ),
        (
            steps(f"{{{FAULT}, for: 5s, expect: {{fired: 1, within: 3s}}}}"),
            '3:62: "for" says already when it must have come; leave one of the two out',
        ),
        (
            steps(f"{{name: one, {FAULT}, expect: {{fired: 1, of: two}}}}"),
            '3:60: no fault is called "two"; known here: one',
        ),
        (
            steps("{for: 1s, expect: {fired: 1}}"),
            '3:23: nothing says which faults; write "of: ..."; the scenario has none yet',
        ),
        (
            steps(f"{{{FAULT}, expect: {{fired: 5, most: 3}}}}"),
            '3:51: "most" is less than "fired"; the least is 5',
        ),
        (
            steps(f"{{{FAULT}, expect: {{within: 3s}}}}"),
            '3:34: nothing is expected; say how often faults fire: "fired: 1"',
        ),
        (steps(f"{{{FAULT}, expect: {{fired: -1}}}}"), "3:42: -1 is not a number of firings; write a number from 0"),
        (
            steps("{for: 1s, faults: [{name: x, do: hold}, {name: x, do: hold}]}"),
            '3:52: another fault is called "x" too; give each its own name',
        ),
        (
            steps("{for: 1s, faults: [{name: lost, do: hold}, {name: late, do: drop, when: {after_rule: lsot}}]}"),
            '3:90: no fault is called "lsot"; did you mean "lost"?',
        ),
        (
            steps("{for: 1s, faults: {name: lost, do: hold, when: {after_rule: lsot}}}"),
            '3:65: no fault is called "lsot"; add one of that name',
        ),
        (
            steps("{for: 1s, faults: {match: {topic: '${topc}'}, do: hold}}"),
            '3:40: unknown parameter "topc"; declare it in the file',
        ),
        (
            "steps: [{for: 1s}]",
            '1:1: "about" is missing; write e.g. "about: The leader of a partition is another one."',
        ),
        ("about: x\nsteps: []", '2:8: "steps" is empty; write e.g. "steps: [{for: 5s}]"'),
        (
            "about: x\nparameters: [topic]\nsteps: [{for: 1s}]",
            '2:13: a list is not a mapping of names; write e.g. "parameters: {topic: orders}"',
        ),
        (
            "about: x\nparameters: {topic: [a]}\nsteps: [{for: 1s}]",
            '2:13: "topic" is no parameter; write a name and one value, e.g. "topic: orders"',
        ),
    ],
)
def test_a_mistake_is_told_with_its_place_and_a_way_out(tmp_path: Path, text: str, said: str) -> None:
    assert told(tmp_path, text) == [said]


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    text = steps("{fr: 5s}", "{for: 5s, parallel: [{for: 1s, faults: {do: {error: NOT_A_CODE}}}, {for: 3}]}")
    places = [problem.split(": ")[0] for problem in told(tmp_path, text)]
    assert places == ["3:6", "4:57", "4:78"]


def test_what_faults_say_is_checked_as_in_a_file_of_faults(tmp_path: Path) -> None:
    text = steps("{for: 5s, faults: {match: {topic: orders}, do: refuse}}")
    assert told(tmp_path, text) == [
        '3:39: "refuse" is done to connections, of which only broker, during, from, listener are known; '
        'leave "topic" out'
    ]


def test_a_parameter_that_the_scenario_lacks_is_told_with_the_nearest(tmp_path: Path) -> None:
    text = "about: x\nparameters: {topic: orders}\n" + steps("{for: 5s}").removeprefix("about: x\n")
    assert told(tmp_path, text, topc="x") == ['2:13: the scenario has no parameter "topc"; did you mean "topic"?']
