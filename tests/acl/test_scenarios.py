"""Doorkeeper in front of a cluster without an authorizer answers as a cluster with Kafka's own, in each scenario."""

from __future__ import annotations

import json
from difflib import unified_diff

import pytest

from tests.acl.compare import alike
from tests.acl.conftest import Worlds
from tests.acl.load import Scenario, load
from tests.acl.play import Outcome, Player, mismatch

pytestmark = pytest.mark.real

SCENARIOS = load()


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: f"{each.theme}: {each.name}")
def test_both_sides_answer_as_the_file_says(scenario: Scenario, worlds: Worlds) -> None:
    sides = worlds.sides(scenario.unmatched)
    spoken = sides.spoken()
    outcomes = {side.name: Player(scenario, side, spoken).play() for side in sides}
    wrong = [
        f"{name}, {outcome.title}: {difference}"
        for name, each in outcomes.items()
        for outcome in each
        if (difference := mismatch(scenario.steps[outcome.step], outcome))
    ]
    one, other = outcomes.values()
    wrong += [different(*pair) for pair in zip(one, other, strict=True) if not same(scenario, *pair)]
    if wrong:
        pytest.fail("\n".join(wrong), pytrace=False)


def same(scenario: Scenario, one: Outcome, other: Outcome) -> bool:
    if scenario.steps[one.step].compare == "errors":
        return (one.end, one.errors) == (other.end, other.errors)
    return one.end == other.end and alike(one.told, other.told)


def shown(outcome: Outcome) -> list[str]:
    return json.dumps([outcome.end, outcome.told], indent=1).splitlines()


def different(one: Outcome, other: Outcome) -> str:
    lines = unified_diff(shown(one), shown(other), "the broker", "doorkeeper", n=1, lineterm="")
    return f"{one.title} differs:\n" + "\n".join(lines)
