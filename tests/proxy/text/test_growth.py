"""The cost of a problem, in executed lines of Python, is the same in files with few and with very many problems."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from plugins.faults.model import FORM as FAULTS
from proxy.config.load import FORM as CONFIGURATION
from proxy.scenarios.reading import FORM as SCENARIO
from proxy.text.file import Form
from rules.load import FORM as RULES

FEW, MANY = 160, 640  # more than a misspelt word is compared with
STEPS = "about: x\nsteps:\n"
ALWAYS = "about: x\nalways:\n"
CLUSTERS = "clusters: {main: {bootstrap: ['a:1']}}\nlisteners:\n"

LISTENER = "  l{n}: {{cluster: {cluster}, bind: '127.0.0.1:{port}'}}\n"


def each(line: str) -> Callable[[int], str]:
    """Items of a list: in each, N is its number."""
    return lambda count: "".join(f"  - {line}\n".replace("N", str(number)) for number in range(1, count + 1))


def under(head: str, line: str, tail: str = "") -> Callable[[int], str]:
    return lambda count: head + each(line)(count) + tail


# What is wrong with a file, and how that is told.
FILES: dict[tuple[str, str], tuple[Form[Any], Callable[[int], str]]] = {
    ("steps in which nothing happens", "nothing happens"): (SCENARIO, under(STEPS, "{name: sN}")),
    ("options that nobody knows", "unknown option"): (SCENARIO, under(STEPS, "{optionN: x}")),
    ("steps that wait for none that is there", "no step before this one"): (
        SCENARIO,
        under(STEPS, "{name: sN, for: 1s, after: zN}"),
    ),
    ("steps that wait for the one before", "no step before this one"): (
        SCENARIO,
        under(STEPS, "{name: sN, for: 1s, after: s1}"),
    ),
    ("faults in steps", ""): (SCENARIO, under(STEPS, "{for: 1s, faults: [{match: {api: Fetch}, do: drop}]}")),
    ("faults that are there always", "another fault is called"): (
        SCENARIO,
        under(ALWAYS, "{do: drop, name: f}", "steps: [{for: 1s}]"),
    ),
    ("faults expected that are not there", "no fault is called"): (
        SCENARIO,
        lambda count: (
            under(ALWAYS, "{do: drop, name: fN}")(count) + under("steps:\n", "{expect: {fired: 1, of: zN}}")(count)
        ),
    ),
    ("faults that wait for none that is there", "no fault is called"): (
        FAULTS,
        under("faults:\n", "{name: fN, do: drop, when: {after_rule: zN}}"),
    ),
    ("faults of one name", "another fault is called"): (FAULTS, under("faults:\n", "{name: f, do: drop}")),
    ("empty lists", "is empty"): (FAULTS, under("faults:\n", "{match: {api: []}, do: drop}")),
    ("rules that cannot be read", "unknown operation"): (
        RULES,
        under("acls:\n", "{allow: User:uN, to: Raed, topics: t}"),
    ),
    ("rules that are alike", ""): (RULES, under("acls:\n", "{allow: User:u, to: Read, topics: t}")),
    ("listeners of clusters that are not there", "unknown cluster"): (
        CONFIGURATION,
        lambda count: CLUSTERS + "".join(LISTENER.format(n=n, cluster=f"c{n}", port=20 * n) for n in range(1, count)),
    ),
    ("listeners of one port", "has port 9000 already"): (
        CONFIGURATION,
        lambda count: CLUSTERS + "".join(LISTENER.format(n=n, cluster="main", port=9000) for n in range(count)),
    ),
}


def work(form: Form[Any], text: str, secret: str = "") -> tuple[int, int]:
    """How many lines of Python run to look at a text, each time round a loop, and the letters that are told of it."""
    count = 0

    def step(_frame: FrameType, _event: str, _argument: object) -> Any:
        nonlocal count
        count += 1
        return step

    before = sys.gettrace()
    sys.settrace(step)
    try:
        _, problems = form.examine(text, "file", {"SECRET": secret}).result()
    finally:
        sys.settrace(before)
    return count, sum(len(str(problem)) for problem in problems)


@pytest.mark.parametrize("what", FILES, ids=[name for name, _ in FILES])
def test_work_grows_with_the_file_and_not_with_its_square(what: tuple[str, str]) -> None:
    form, text = FILES[what]
    _, problems = form.examine(text(2), "file", {}).result()
    assert all(what[1] in problem.message for problem in problems)
    assert bool(problems) == bool(what[1])
    few, many = work(form, text(FEW)), work(form, text(MANY))
    assert many[0] < 6 * few[0], "four times the file takes four times the lines"
    assert many[1] < 6 * max(few[1], 1), "and four times the words"


def test_hiding_a_secret_takes_no_longer_where_the_secret_is_longer_than_all_messages() -> None:
    text = CLUSTERS + LISTENER.format(n=0, cluster="none", port=9000) + "admin: {bind: 'a:1', token: '${SECRET}'}\n"
    assert work(CONFIGURATION, text, "s" * 1_000) == work(CONFIGURATION, text, "s" * 900)
