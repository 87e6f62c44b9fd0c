"""Differences from a scenario's expectations are found: a scenario that cannot fail would show nothing."""

from __future__ import annotations

from typing import Any

import pytest

from proxy.protocol.api import PRODUCE
from tests.acl.compare import alike, at
from tests.acl.language import CLOSED, NOTHING, Step
from tests.acl.play import Outcome, mismatch

ERRORS = {"orders": "NONE", "secrets": "TOPIC_AUTHORIZATION_FAILED"}
TOLD = {"responses": [{"name": "orders", "errors": []}, {"name": "secrets", "errors": [29]}], "sessionId": 0}


def step(then: Any = None, shows: dict[str, Any] | None = None) -> Step:
    return Step.model_validate({"as": "alice", "api": "Produce", "then": then, "shows": shows or {}})


def outcome(errors: dict[str, str] = ERRORS, end: str | None = None, version: int = 9) -> Outcome:
    return Outcome(0, PRODUCE, version, end, errors, TOLD)


@pytest.mark.parametrize(
    "then",
    [
        ERRORS,
        {"v0-8": CLOSED, "v9+": ERRORS},
        {"orders": "NONE", "v9": {"secrets": "TOPIC_AUTHORIZATION_FAILED"}},
    ],
)
def test_what_fits_is_no_mismatch(then: Any) -> None:
    assert mismatch(step(then), outcome()) is None


@pytest.mark.parametrize(
    "then",
    [
        None,
        "NONE",
        "TOPIC_AUTHORIZATION_FAILED",
        {"orders": "NONE"},
        {**ERRORS, "more": "NONE"},
        {**ERRORS, "secrets": "NONE"},
        {"v9+": {"orders": "NONE"}},
        {},
        CLOSED,
        NOTHING,
    ],
)
def test_what_does_not_fit_is_a_mismatch(then: Any) -> None:
    assert mismatch(step(then), outcome()) is not None


def test_an_answer_that_does_not_come_is_told_as_that() -> None:
    assert mismatch(step(ERRORS), outcome(end=CLOSED)) == "closed, without an answer"
    assert mismatch(step(CLOSED), outcome(end=NOTHING)) == "not closed, but nothing"
    assert mismatch(step(CLOSED), outcome(end=CLOSED)) is None


def test_without_a_word_no_error_may_come() -> None:
    assert mismatch(step(), outcome({"answer": "NONE"})) is None
    assert mismatch(step(), outcome({"answer": "GROUP_AUTHORIZATION_FAILED"})) is not None


def test_the_error_at_the_top_counts_where_there_is_one() -> None:
    assert mismatch(step({"orders": "NONE"}), outcome({"answer": "NONE", "orders": "NONE"})) is None
    assert mismatch(step({"orders": "NONE"}), outcome({"answer": "INVALID_REQUEST", "orders": "NONE"})) is not None


@pytest.mark.parametrize(
    ("shows", "fits"),
    [
        ({"responses[].name": ("orders", "secrets")}, True),
        ({"responses[secrets].errors": (29,)}, True),
        ({"sessionId": 1}, False),
        ({"responses[others].errors": ()}, False),
        ({"topics": ()}, False),
    ],
)
def test_values_are_found_by_their_paths(shows: dict[str, Any], fits: bool) -> None:
    assert (mismatch(step(shows=shows), outcome()) is None) is fits


def test_a_list_in_a_list_is_one_list() -> None:
    assert at({"a": [{"b": [{"c": 1}, {"c": 2}]}, {"b": [{"c": 3}]}]}, "a[].b[].c") == [1, 2, 3]


def test_a_message_with_a_dump_need_not_be_repeated() -> None:
    assert alike({"errorMessage": "<dump>"}, {"errorMessage": "Cluster authorization failed."})
    assert not alike({"errorMessage": "a"}, {"errorMessage": "b"})
    assert not alike([1], [1, 2])
    assert not alike({"a": 1}, {"a": 1, "b": 2})
