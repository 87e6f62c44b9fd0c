"""A scenario runs its steps in order and on time, and leaves nothing behind."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import Any, NamedTuple

import pytest

from proxy.scenarios import play as playing
from proxy.scenarios.play import FaultsRemovedError, Progress, ScenarioPlay
from proxy.scenarios.reading import FORM


@dataclass
class Counted:
    name: str
    matched: int = 0
    fired: int = 0


class CountedList(NamedTuple):
    resets: int
    faults: tuple[Counted, ...]


class FakeGateway:
    """A gateway in whose time nothing happens but what a test says: `at` these seconds the faults in force fire."""

    def __init__(self, at: Callable[[float], bool]) -> None:
        self.now = 0.0
        self.story: list[str] = []
        self.seed: int | None = None
        self.resets = 0
        self.in_force: dict[str, Counted] = {}
        self.said: dict[str, Mapping[str, Any]] = {}
        self._at = at

    def sleep(self, seconds: float) -> None:
        self.now = round(self.now + seconds, 1)
        for counted in list(self.in_force.values()):
            counted.matched += 1
            counted.fired += self._at(self.now)

    def add(self, *faults: Mapping[str, Any]) -> list[str]:
        names = [str(fault["name"]) for fault in faults]
        self.story += [f"{self.now:g} +{name}" for name in names]
        self.in_force |= {name: Counted(name) for name in names}
        self.said |= {str(fault["name"]): fault for fault in faults}
        return names

    def remove(self, name: str) -> Counted:
        """As the gateway: a fault that another one waits for stays."""
        waiting = {other for said in self.said.values() for other in (said.get("when") or {}).values()}
        if name in waiting:
            raise LookupError(name)
        self.story.append(f"{self.now:g} -{name}")
        del self.said[name]
        return self.in_force.pop(name)

    def reset(self, seed: int | None = None) -> None:
        self.seed = seed
        self.resets += 1
        self.in_force.clear()
        self.said.clear()

    def faults(self) -> CountedList:
        return CountedList(self.resets, tuple(self.in_force.values()))


def played(text: str, at: Callable[[float], bool] = lambda now: True) -> tuple[FakeGateway, ScenarioPlay, list[str]]:
    gateway, said = FakeGateway(at), list[str]()
    progress = Progress(lambda at, label, what: said.append(f"{at:g} {label} {what}"), lambda at, fired: None)
    scenario = FORM.examine(f"about: x\nseed: 3\n{text}", "scenario.yaml", {}).usable()
    play = ScenarioPlay(scenario, gateway, progress, lambda: gateway.now, gateway.sleep)
    play.play()
    return gateway, play, said


def test_steps_are_taken_one_after_the_other() -> None:
    gateway, play, said = played("""
steps:
  - {name: one, faults: {do: hold}, for: 2s}
  - {for: 1s}
  - {name: two, faults: {do: hold}, for: 1s}
""")
    assert gateway.story == ["0 +one", "2 -one", "3 +two", "4 -two"]
    assert gateway.seed == 3
    assert said[:2] == ["0 one begins", "2 one is over, fired 20 times"]
    assert not play.unmet


def test_parallel_steps_are_taken_at_the_same_time_and_may_wait_for_each_other() -> None:
    gateway, _, _ = played("""
steps:
  - parallel:
      - {name: one, faults: {do: hold}, at: 0s, for: 2s}
      - {name: two, faults: {do: hold}, at: 1s, for: 3s}
      - {name: three, after: one, faults: {do: hold}, for: 1s}
  - {name: four, faults: {do: hold}, for: 1s}
""")
    assert gateway.story == ["0 +one", "1 +two", "2 -one", "2 +three", "3 -three", "4 -two", "4 +four", "5 -four"]


def test_faults_that_are_there_always_come_first_and_go_last() -> None:
    gateway, _, _ = played("always: {name: slow, do: hold}\nsteps: [{name: one, faults: {do: drop}, for: 1s}]")
    assert gateway.story == ["0 +slow", "0 +one", "1 -one", "1 -slow"]


def test_a_step_ends_when_what_it_expects_has_come() -> None:
    gateway, play, _ = played("steps: [{name: one, faults: {do: hold}, expect: {fired: 2}}]", lambda now: now in (1, 3))
    assert gateway.story == ["0 +one", "3 -one"]
    assert not play.unmet


def test_what_does_not_come_in_time_is_told_with_what_came_instead() -> None:
    gateway, play, _ = played(
        "steps: [{name: one, faults: {do: hold}, expect: {fired: 2, within: 4s}}]", lambda now: now == 1
    )
    assert gateway.story == ["0 +one", "4 -one"]
    assert play.unmet == ['one: it ended, and "one" fired 1 of 40 matches, not at least 2 times']


def test_more_than_the_most_is_told_too() -> None:
    _, play, _ = played("steps: [{name: one, faults: {do: hold}, for: 1s, expect: {most: 3}}]")
    assert play.unmet == ['one: it ended, and "one" fired 10 of 10 matches, not at most 3 times']


def test_a_step_begins_when_other_faults_fired_so_often() -> None:
    gateway, play, _ = played(
        """
always: {name: slow, do: hold}
steps:
  - {name: one, when: {of: slow, fired: 2}, faults: {do: drop}, for: 1s}
  - {name: never, when: {of: slow, fired: 9, within: 1s}, faults: {do: drop}, for: 1s}
""",
        lambda now: now in (1, 3),
    )
    assert gateway.story == ["0 +slow", "3 +one", "4 -one", "5 -slow"]
    assert play.unmet == ['never: it did not begin, and "slow" fired 2 of 50 matches, not at least 9 times']


def test_a_fault_goes_before_the_one_that_it_waits_for() -> None:
    gateway, _, _ = played("""
always: [{name: slow, do: hold}, {name: then, do: drop, when: {after_rule: slow}}]
steps:
  - faults: [{name: a, do: hold, when: {after_rule: b}}, {name: b, do: hold, when: {while_rule: slow}}]
    for: 1s
""")
    assert gateway.story == ["0 +slow", "0 +then", "0 +a", "0 +b", "1 -a", "1 -b", "1 -then", "1 -slow"]


def test_where_a_fault_cannot_be_taken_back_all_are_taken_at_once() -> None:
    gateway = FakeGateway(lambda now: True)
    wait_for_each_other = "[{name: a, do: hold, when: {after_rule: b}}, {name: b, do: hold, when: {after_rule: a}}]"
    scenario = FORM.examine(f"about: x\nsteps: [{{faults: {wait_for_each_other}, for: 1s}}]", "x", {}).usable()
    progress = Progress(lambda *_: None, lambda *_: None)
    with pytest.raises(LookupError):
        ScenarioPlay(scenario, gateway, progress, lambda: gateway.now, gateway.sleep).play()
    assert not gateway.in_force


@pytest.mark.parametrize("other", ["other", "one"])
def test_a_scenario_ends_when_another_one_begins_and_leaves_its_faults_alone(other: str) -> None:
    def begin_another(now: float) -> bool:
        if now == 1:
            gateway.reset()
            gateway.add({"name": other, "do": "hold"})
        return True

    with pytest.raises(FaultsRemovedError, match="all faults were reset by others; play one scenario at a time"):
        play_on(gateway := FakeGateway(begin_another))
    assert gateway.now == 1
    assert gateway.in_force.keys() == {other}


def test_of_two_scenarios_that_begin_at_the_same_moment_the_first_does_not_begin() -> None:
    class Shared(FakeGateway):
        """Between the reset by the one scenario and its next look, the other one resets it."""

        def reset(self, seed: int | None = None) -> None:
            super().reset(seed)
            super().reset()

    gateway = Shared(lambda now: True)
    with pytest.raises(FaultsRemovedError, match="all faults were reset by others"):
        play_on(gateway)
    assert gateway.story == []


def test_a_scenario_whose_faults_others_remove_ends_and_leaves_theirs_alone() -> None:
    def remove(now: float) -> bool:
        if now == 1:
            gateway.add({"name": "other", "do": "hold"})
            gateway.remove("one")
        return True

    with pytest.raises(FaultsRemovedError, match='the fault "one" was removed by others; play one scenario at a time'):
        play_on(gateway := FakeGateway(remove))
    assert gateway.now == 1
    assert gateway.in_force.keys() == {"other"}


def play_on(gateway: FakeGateway) -> None:
    scenario = FORM.examine("about: x\nsteps: [{name: one, faults: {do: hold}, for: 9s}]", "x", {}).usable()
    progress = Progress(lambda *_: None, lambda *_: None)
    ScenarioPlay(scenario, gateway, progress, lambda: gateway.now, gateway.sleep).play()


def test_nothing_stays_where_a_scenario_is_interrupted() -> None:
    def interrupt(now: float) -> bool:
        if now == 1:
            raise KeyboardInterrupt
        return True

    gateway = FakeGateway(interrupt)
    scenario = FORM.examine("about: x\nsteps: [{name: one, faults: {do: hold}, for: 2s}]", "x", {}).usable()
    play = ScenarioPlay(
        scenario, gateway, Progress(lambda *_: None, lambda *_: None), lambda: gateway.now, gateway.sleep
    )
    with pytest.raises(KeyboardInterrupt):
        play.play(seed=9)
    assert gateway.seed == 9
    assert gateway.story == ["0 +one", "1 -one"]


@pytest.mark.parametrize("change", ["add", "remove"])
def test_nothing_stays_where_a_change_breaks_off(change: str) -> None:
    class Breaking(FakeGateway):
        def add(self, *faults: Mapping[str, Any]) -> list[str]:
            names = super().add(*faults)
            if change == "add":
                raise KeyboardInterrupt
            return names

        def remove(self, name: str) -> Counted:
            super().remove(name)
            raise KeyboardInterrupt

    gateway = Breaking(lambda now: False)
    scenario = FORM.examine("about: x\nsteps: [{for: 1s, faults: [{do: hold}, {do: down}]}]", "x.yaml", {}).usable()
    play = ScenarioPlay(
        scenario, gateway, Progress(lambda *_: None, lambda *_: None), lambda: gateway.now, gateway.sleep
    )
    with pytest.raises(KeyboardInterrupt):
        play.play()
    assert gateway.in_force == {}


def test_nothing_stays_at_whichever_line_a_scenario_is_interrupted() -> None:
    text = """
about: x
always: {name: slow, do: hold}
steps:
  - {faults: [{name: a, do: hold}, {name: b, do: drop, when: {after_rule: a}}], for: 200ms}
  - parallel: [{faults: {do: drop}, for: 100ms}, {faults: {do: hold}, for: 200ms}]
"""
    scenario = FORM.examine(text, "x.yaml", {}).usable()
    lines = 0

    def until_line(stop: int) -> None:
        """Play it until that line of its module was about to run; with 0, to its end. Counts the lines."""
        gateway = FakeGateway(lambda now: True)
        progress = Progress(lambda *_: None, lambda *_: None)
        play = ScenarioPlay(scenario, gateway, progress, lambda: gateway.now, gateway.sleep)

        def trace(frame: FrameType, event: str, _: object) -> Any:
            nonlocal lines
            if frame.f_code.co_filename != playing.__file__:
                return None
            lines += event == "line"
            if event == "line" and lines == stop:
                raise KeyboardInterrupt
            return trace

        lines, before = 0, sys.gettrace()
        sys.settrace(trace)
        try:
            play.play()
        finally:
            sys.settrace(before)
            assert not gateway.in_force, f"interrupted at line {stop} of those that ran"
            assert play.is_clean

    until_line(0)
    for line in range(1, lines + 1):
        with pytest.raises(KeyboardInterrupt):
            until_line(line)
