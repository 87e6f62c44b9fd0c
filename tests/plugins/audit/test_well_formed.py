"""Well-formed: what is an event, and what is not."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.audit.well_formed import is_event

STAMP = {
    "kind": "request",
    "schema": 3,
    "time": "2026-03-01T08:00:01.000000Z",
    "instance": "3f9c2a71",
    "worker": 0,
    "sequence": 9,
}
RESOURCES = [{"type": "topic", "partition": None, "failures": [{"error": "X", "requests": 2}]}]


@pytest.mark.parametrize(
    "fields",
    [{}, {"resources": RESOURCES, "errors": ["X"], "enforced": True, "why": None}, {"of a newer version": [1.5]}],
)
def test_the_stamp_makes_an_event_whatever_else_is_null_or_not_known(fields: dict[str, Any]) -> None:
    assert is_event(STAMP | fields)


@pytest.mark.parametrize(
    "found",
    [
        5,
        [STAMP],
        *({name: value for name, value in STAMP.items() if name != missing} for missing in STAMP),
        STAMP | {"sequence": None},
        STAMP | {"sequence": "9"},
        STAMP | {"sequence": True},
        STAMP | {"time": "yesterday"},
        STAMP | {"time": "2026-03-01T08:00:01"},
        STAMP | {"resources": "orders"},
        STAMP | {"resources": ["orders"]},
        STAMP | {"resources": [{"type": "topic", "failures": [{"requests": "2"}]}]},
        STAMP | {"errors": 5},
        STAMP | {"lasted_us": 1 << 63},
        STAMP | {"partition": 1, "broker": 1 << 31},
    ],
)
def test_a_stamp_that_is_not_whole_or_a_field_of_a_wrong_type_makes_none(found: Any) -> None:
    assert not is_event(found)
