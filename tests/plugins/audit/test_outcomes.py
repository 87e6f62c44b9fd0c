"""Outcomes: what came of an event for the client."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.audit.outcomes import is_on_trial, microseconds, outcome


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ({"kind": "request", "outcome": "answered"}, "success"),
        ({"kind": "request", "outcome": "answered", "errors": ["NONE_OF_THESE"]}, "failure"),
        ({"kind": "request", "outcome": "unknown"}, "unknown"),
        ({"kind": "request", "outcome": "none"}, "failure"),
        ({"kind": "summary", "errors": []}, "success"),
        ({"kind": "authentication_failed"}, "failure"),
        ({"kind": "events_unsent"}, "failure"),
        ({"kind": "denied", "enforced": True}, "failure"),
        ({"kind": "denied", "enforced": False}, "success"),
    ],
)
def test_it_is_what_happened_to_the_client(event: dict[str, Any], said: str) -> None:
    assert outcome(event) == said
    assert is_on_trial(event) is (event.get("enforced") is False)


def test_a_duration_is_that_of_a_connection_or_of_a_request_with_an_answer() -> None:
    assert microseconds({"kind": "connection_closed", "lasted_us": 7}, 1_000) == 7_000
    assert microseconds({"kind": "request", "broker_us": 1_500, "proxy_us": 600}, 0.001) == 2
    assert microseconds({"kind": "request"}, 1) is None
