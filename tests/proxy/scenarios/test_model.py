from __future__ import annotations

import pytest

from proxy.scenarios.model import Expectation, ScenarioFile, named
from proxy.scenarios.reading import FORM


def scenario(text: str) -> ScenarioFile:
    return FORM.examine(text, "scenario.yaml", {}).usable()


def test_faults_without_a_name_are_called_as_their_step() -> None:
    steps = scenario("""
        about: x
        steps:
          - {name: alone, for: 1s, faults: {do: hold}}
          - {for: 1s, faults: [{do: hold}, {name: mine, do: drop}, {do: drop}]}
          - parallel: [{for: 1s, faults: {do: hold}}]
    """).steps_with_labels()
    names = [name for _, label, step in steps for name, _ in named(step.faults, label)]
    assert names == ["alone", "step 2, fault 1", "mine", "step 2, fault 3", "step 3.1"]


def test_a_gateway_is_told_a_fault_as_it_stands_in_the_file() -> None:
    (step,) = scenario("about: x\nsteps: [{for: 1s, faults: {match: {api: [Fetch]}, do: {delay: 20ms}}}]").steps
    ((name, fault),) = named(step.faults, "slow")
    assert fault.as_json(name) == {"match": {"api": ("Fetch",)}, "do": {"delay": "20ms"}, "name": "slow"}


@pytest.mark.parametrize(
    ("said", "holding", "words"),
    [
        ({"fired": 2}, [2, 3], "at least 2 times"),
        ({"most": 1}, [0, 1], "at most 1 time"),
        ({"fired": 1, "most": 2}, [1, 2], "at least 1 time and at most 2 times"),
    ],
)
def test_an_expectation_holds_between_its_least_and_its_most(
    said: dict[str, int], holding: list[int], words: str
) -> None:
    expectation = Expectation.model_validate(said)
    assert [fired for fired in range(4) if expectation.holds(fired)] == holding
    assert expectation.words == words
