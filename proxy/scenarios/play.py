"""Playing a scenario: takes its steps against a gateway, adds their faults there and removes them.

Rules:
* It runs in ticks. At each tick it asks the gateway once what fired, and then every running step moves on.
* The gateway's counters are reset when a scenario begins. It should have the gateway for itself.
* However it ends, all its faults are removed. The gateway refuses to remove a fault that another one waits for, so the
  waiting one goes first.
* If others reset the gateway or remove one of its faults, it ends, and leaves the faults of others alone.
* A change that failed midway may or may not have been made. In that case all faults are removed at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from proxy.scenarios.fault_control import FaultControl, FaultCounts
from proxy.scenarios.model import Expectation, ScenarioFault, ScenarioFile, ScenarioStep, named
from proxy.text.places import KeyPath

TICK = 0.1  # seconds
ALONE = "play one scenario at a time, or give each its own proxy"

PlayTurns = Generator[None, None, None]


class FaultsRemovedError(RuntimeError):
    """Others removed faults of the scenario, or reset all. The text is a line for people."""


class Progress(NamedTuple):
    """The callbacks that report progress. Times are seconds since the scenario began."""

    said: Callable[[float, str, str], None]  # time, step, and what happened to it
    ticked: Callable[[float, Mapping[str, int]], None]  # time, and how often each fault in force has fired


class ScenarioPlay:
    """One run of a scenario. `unmet`: the expectations that were not met, a line each."""

    def __init__(
        self,
        scenario: ScenarioFile,
        gateway: FaultControl,
        progress: Progress,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.unmet: list[str] = []
        self._scenario, self._gateway, self._progress = scenario, gateway, progress
        self._clock, self._sleep = clock, sleep
        self._began = clock()
        self._labels = {path: label for path, label, _ in scenario.steps_with_labels()}
        self._over: set[str] = set()
        self._in_force: dict[str, ScenarioFault] = {}
        self._resets = 0  # of the gateway, when the scenario began
        self._is_sure = True  # `_in_force` is exactly what the gateway has
        self._matched: dict[str, int] = {}
        self._fired: dict[str, int] = {}

    def play(self, seed: int | None = None) -> None:
        """Play the scenario from beginning to end. `seed`: replaces the scenario's own."""
        self._resets = self._gateway.faults().resets + 1  # with the one that follows
        self._gateway.reset(self._scenario.seed if seed is None else seed)
        self._began = self._clock()
        self._look()  # another scenario may have begun at the same moment
        always = dict(named(self._scenario.always, "always"))
        try:
            self._put(always)
            for _ in self._one_by_one(self._scenario.steps):
                self._sleep(TICK)
                self._look()
            self._take(always)
        finally:
            self._end()

    @property
    def is_clean(self) -> bool:
        """Whether none of its faults is in force."""
        return self._is_sure and not self._in_force

    @property
    def _now(self) -> float:
        return self._clock() - self._began

    def _one_by_one(self, steps: tuple[ScenarioStep, ...]) -> PlayTurns:
        for index, step in enumerate(steps):
            yield from self._step(("steps", index), step)

    def _together(self, path: KeyPath, steps: tuple[ScenarioStep, ...]) -> PlayTurns:
        running = [self._step((*path, "parallel", index), step) for index, step in enumerate(steps)]
        while running := [turns for turns in running if _goes_on(turns)]:
            yield

    def _step(self, path: KeyPath, step: ScenarioStep) -> PlayTurns:
        label = self._labels[path]
        while self._now < (step.at or 0.0) or not self._over.issuperset(step.after or ()):
            yield
        due = True
        if step.when is not None:
            due = yield from self._comes(step.when, step.when.of or (), step.when.patience)
            if not due:
                self._tell_unmet(label, step.when, step.when.of or (), "it did not begin")
        if due and step.parallel is not None:
            yield from self._together(path, step.parallel)
        elif due:
            yield from self._last(label, step)
        self._over.add(label)

    def _last(self, label: str, step: ScenarioStep) -> PlayTurns:
        """Have the faults of a step in force for as long as the step lasts."""
        faults = dict(named(step.faults, label))
        self._put(faults)
        if faults or step.for_ is not None:
            self._progress.said(self._now, label, "begins")
        expected = step.expect
        of = expected.of if expected is not None and expected.of is not None else tuple(faults)
        if step.for_ is not None:
            until = self._now + step.for_
            while self._now < until:
                yield
        elif expected is not None:
            yield from self._comes(expected, of, expected.patience)
        self._take(faults)
        if expected is not None and not expected.holds(self._sum(of)):
            self._tell_unmet(label, expected, of, "it ended")
        else:
            fired = f", fired {self._sum(of)} times" if of else ""
            self._progress.said(self._now, label, f"is over{fired}")

    def _comes(self, expected: Expectation, of: tuple[str, ...], patience: float) -> Generator[None, None, bool]:
        """Wait until the expectation holds. With a maximum, wait for the whole time, since more may come."""
        until = self._now + patience
        while self._now < until and (expected.most is not None or not expected.holds(self._sum(of))):
            yield
        return expected.holds(self._sum(of))

    def _sum(self, of: Iterable[str]) -> int:
        return sum(self._fired.get(name, 0) for name in of)

    def _tell_unmet(self, label: str, expected: Expectation, of: tuple[str, ...], what: str) -> None:
        faults, matched = " and ".join(f'"{name}"' for name in of), sum(self._matched.get(name, 0) for name in of)
        line = f"{what}, and {faults} fired {self._sum(of)} of {matched} matches, not {expected.words}"
        self._progress.said(self._now, label, line)
        self.unmet.append(f"{label}: {line}")

    def _put(self, faults: Mapping[str, ScenarioFault]) -> None:
        if faults:
            with self._changing():
                self._gateway.add(*(fault.as_json(name) for name, fault in faults.items()))
                self._in_force |= faults

    def _take(self, names: Iterable[str]) -> None:
        left = list(names)
        while left:
            awaited = {other for name in left for other in self._in_force[name].when.others.values()}
            name = next((name for name in left if name not in awaited), left[0])
            with self._changing():
                self._note(self._gateway.remove(name))
                del self._in_force[name]
            left.remove(name)

    @contextmanager
    def _changing(self) -> Iterator[None]:
        self._is_sure = False
        yield
        self._is_sure = True

    def _end(self) -> None:
        try:
            if self._is_sure:
                self._take(self._in_force)
        finally:
            if not self.is_clean:
                self._gateway.reset()
                self._in_force, self._is_sure = {}, True

    def _note(self, fault: FaultCounts) -> None:
        self._matched[fault.name], self._fired[fault.name] = fault.matched, fault.fired

    def _look(self) -> None:
        found = self._gateway.faults()
        if found.resets != self._resets:  # the faults that are there now are of others, even under the same names
            self._in_force = {}
            raise FaultsRemovedError(f"all faults were reset by others; {ALONE}")
        for fault in found.faults:
            self._note(fault)
        gone = self._in_force.keys() - {fault.name for fault in found.faults}
        if gone:
            removed = min(gone)
            self._in_force = {name: fault for name, fault in self._in_force.items() if name not in gone}
            raise FaultsRemovedError(f'the fault "{removed}" was removed by others; {ALONE}')
        self._progress.ticked(self._now, {name: self._fired.get(name, 0) for name in self._in_force})


def _goes_on(turns: PlayTurns) -> bool:
    """Advance a step. Returns whether it is still running."""
    return next(turns, "over") is None
