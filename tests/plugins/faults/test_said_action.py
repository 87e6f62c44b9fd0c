"""The ways to write what a fault does."""

from __future__ import annotations

import pytest
from pydantic_core import PydanticCustomError

from plugins.faults.said_action import action


@pytest.mark.parametrize("value", [{"error": "NOT_LEADER_OR_FOLLOWER"}, {"error": {"code": "X", "side": "y"}}, {}, 5])
def test_a_mapping_is_read_as_it_stands(value: object) -> None:
    assert action(value) == value


def test_an_effect_may_be_written_alone() -> None:
    assert action("hold") == {"hold": None}


def test_an_effect_that_there_is_not_is_told_with_the_nearest() -> None:
    with pytest.raises(PydanticCustomError, match=r'unknown effect "hld"; did you mean "hold"\?'):
        action("hld")


def test_an_option_beside_its_effect_is_told_with_its_place() -> None:
    with pytest.raises(PydanticCustomError, match=r'"side" is an option of "error"; write it there: "error: \{side: '):
        action({"error": "NOT_LEADER_OR_FOLLOWER", "side": "after_broker"})
    assert action({"delay": "1s", "side": "x", "hold": None})  # which of the two is meant is not known
