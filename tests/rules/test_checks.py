"""Checks across the options of a rule."""

import pytest

from rules import examine_text


def problems(rule: str) -> list[str]:
    _, found = examine_text(f"acls:\n  - {rule}\n", "acl.yaml", {})
    return [problem.message for problem in found]


def test_a_rule_lacks_all_that_it_lacks() -> None:
    assert problems("{to: Read}") == [
        'the rule neither allows nor denies; write e.g. "allow: User:alice"',
        'the rule is about nothing; write e.g. "topics: orders"',
    ]


@pytest.mark.parametrize("rule", ["{alow: User:a, to: Read, topics: t}", "{allow: User:a, to: Read, topcis: t}"])
def test_what_is_misspelt_is_not_missing_too(rule: str) -> None:
    (message,) = problems(rule)
    assert message.startswith("unknown option")


def test_a_window_must_leave_a_moment() -> None:
    rule = "{allow: User:a, to: Read, topics: t, during: {since: 2026-02-01, before: 2026-01-01}}"
    assert problems(rule) == ['no moment is left after "since"; write a later one']
