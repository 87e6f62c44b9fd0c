"""The file of a scenario, declared once. Every problem is reported at its place.

    about: The leader of a partition is another one for some seconds.
    parameters: {topic: orders}
    steps:
      - name: leader-moved
        faults: {match: {api: Produce, topic: "${topic}"}, do: {error: NOT_LEADER_OR_FOLLOWER}}
        for: 4s
        expect: {fired: 1}

Rules:
* Steps are played one after the other. Steps under `parallel` are played at the same time.
* A step begins when three conditions hold: the time `at` has come, the steps in `after` are over, and `when` holds.
* It lasts for `for`, or until its expectation holds. Its faults are in force that long. Faults under `always` are in
  force from the beginning to the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ModelWrapValidatorHandler, PlainValidator, StrictInt, model_validator

from plugins.faults.model import FaultRule
from proxy.text.file import Section
from proxy.text.places import KeyPath
from proxy.text.quantities import Moment, Seconds
from proxy.text.words import shown, wrong
from rules.values import Given, OneOrMany, text

PATIENCE = 30.0  # seconds that a scenario waits for something, unless it says how long


class ScenarioFault(FaultRule):
    """A fault as the file has it. It is sent to the gateway in this form."""

    _said: dict[str, Any]

    @model_validator(mode="wrap")
    @classmethod
    def _keep(cls, value: Any, handler: ModelWrapValidatorHandler[ScenarioFault]) -> ScenarioFault:
        made = handler(value)
        made._said = value
        return made

    def as_json(self, name: str) -> dict[str, Any]:
        """The fault in the form of the admin API, under this name."""
        return {**self._said, "name": name}


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise wrong(f"{shown(value)} is not a number of firings", "write a number from 0")
    return value


FiringCount = Annotated[int, PlainValidator(_count)]
Name = Annotated[str, PlainValidator(lambda value: text(value, "name of a step or a fault", "leader-moved"))]


class Expectation(Section):
    """How often faults have fired, together."""

    fired: Given[FiringCount] = Field(default=None, description="The least number of firings.", examples=["1"])
    most: Given[FiringCount] = Field(default=None, description="The largest number of firings.", examples=["3"])
    of: Given[OneOrMany[Name]] = Field(
        default=None,
        description="The faults that are counted; without it, those of the step.",
        examples=["leader-moved"],
    )
    within: Given[Seconds] = Field(
        default=None, description="How long the scenario waits for them; without it, 30s.", examples=["10s"]
    )

    @property
    def patience(self) -> float:
        """How many seconds to wait until it holds."""
        return PATIENCE if self.within is None else self.within

    def holds(self, fired: int) -> bool:
        """Whether this many firings meet the expectation."""
        return fired >= (self.fired or 0) and (self.most is None or fired <= self.most)

    @property
    def words(self) -> str:
        """The expectation for people: "at least 1 time"."""
        least = [f"at least {_times(self.fired)}"] if self.fired is not None else []
        return " and ".join([*least, *([f"at most {_times(self.most)}"] if self.most is not None else [])])


def _times(number: int) -> str:
    return f"{number} time{'' if number == 1 else 's'}"


class ScenarioStep(Section):
    """One step: when it begins, what happens in it, and when it is over."""

    name: Given[Name] = Field(
        default=None, description="The name of the step, for later steps and for messages.", examples=["leader-moved"]
    )
    at: Given[Moment] = Field(default=None, description="Not before this time of the scenario.", examples=["5s"])
    after: Given[OneOrMany[Name]] = Field(
        default=None, description="After these steps of the same `parallel`.", examples=["leader-moved"]
    )
    when: Given[Expectation] = Field(
        default=None, description="Not before faults fired so often.", examples=["{of: leader-moved, fired: 3}"]
    )
    faults: Given[OneOrMany[ScenarioFault]] = Field(
        default=None, description="The faults that are in force while it lasts.", examples=["{do: {delay: 200ms}}"]
    )
    parallel: Given[Annotated[tuple[ScenarioStep, ...], Field(min_length=1)]] = Field(
        default=None, description="Steps that are taken at the same time.", examples=["[{for: 5s}]"]
    )
    for_: Given[Seconds] = Field(default=None, alias="for", description="How long it lasts.", examples=["5s"])
    expect: Given[Expectation] = Field(
        default=None, description="How often faults must have fired when it ends.", examples=["{fired: 1}"]
    )


def _words(value: object) -> dict[str, str]:
    """Read the parameters: names with their default values."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise wrong(f"{shown(value)} is not a mapping of names", 'write e.g. "parameters: {topic: orders}"')
    for name, default in value.items():
        if not isinstance(default, str | int | float) or not name.isidentifier():
            raise wrong(f'"{name}" is no parameter', 'write a name and one value, e.g. "topic: orders"')
    return {name: written(default) for name, default in value.items()}


def written(value: object) -> str:
    """A parameter's value as text, in YAML's notation."""
    return value if isinstance(value, str) else shown(value)


class ScenarioFile(Section):
    """One scenario."""

    about: str = Field(description="What happens, in one line.", examples=["The leader of a partition is another one."])
    sees: Given[str] = Field(
        default=None, description="What clients see of it.", examples=["NOT_LEADER_OR_FOLLOWER, for some seconds"]
    )
    seed: StrictInt = Field(
        default=0, description="The seed of the random numbers, unless the command gives another.", examples=["7"]
    )
    parameters: Annotated[dict[str, str], BeforeValidator(_words)] = Field(
        default={},
        description="The parameters that the command may set, with their defaults.",
        examples=["{topic: orders}"],
    )
    always: Given[OneOrMany[ScenarioFault]] = Field(
        default=None,
        description="The faults that are in force from the beginning to the end.",
        examples=["{do: {delay: 20ms}}"],
    )
    steps: tuple[ScenarioStep, ...] = Field(
        min_length=1, description="The steps, one after the other.", examples=["[{for: 5s}]"]
    )

    def steps_with_labels(self) -> Iterator[tuple[tuple[str | int, ...], str, ScenarioStep]]:
        """All steps, including nested ones: the path of each in the file, and its label."""
        yield from labelled(self.steps, ("steps",), "step ")


def labelled(
    steps: tuple[ScenarioStep, ...], path: KeyPath, before: str
) -> Iterator[tuple[KeyPath, str, ScenarioStep]]:
    """Steps with their paths. Their labels are their names, or numbers such as "step 2.1"."""
    for index, step in enumerate(steps):
        label = step.name or f"{before}{index + 1}"
        yield (*path, index), label, step
        yield from labelled(step.parallel or (), (*path, index, "parallel"), f"{before}{index + 1}.")


def named(faults: tuple[ScenarioFault, ...] | None, label: str) -> list[tuple[str, ScenarioFault]]:
    """The faults of a step with their names. A fault without a name is named after the step."""
    several = len(faults or ()) > 1
    return [
        (fault.name or (f"{label}, fault {number}" if several else label), fault)
        for number, fault in enumerate(faults or (), 1)
    ]
