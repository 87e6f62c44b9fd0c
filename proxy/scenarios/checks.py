"""Checks across options: conditions that involve more than one option of a step.

Rules:
* A step may wait only for earlier steps, and not for one that contains it, so that none waits for itself.
* Faults are checked as in a file of faults. A fault may wait only for faults of its own step and for those under
  `always`: others may not be in force at the same time.
* Each step and each fault is looked at once, however many there are.
"""

from __future__ import annotations

from collections import ChainMap, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from plugins.faults.model import FaultRule, unknown_others
from plugins.faults.model import findings as fault_findings
from proxy.scenarios.model import Expectation, ScenarioFault, ScenarioFile, ScenarioStep, named
from proxy.text.file import Examined
from proxy.text.places import KeyPath
from proxy.text.problems import Finding
from proxy.text.words import nearest

ALONE = 'a step with "parallel" has nothing else in it; put it into a step of its own'
LASTS = 'say how long ("for: 5s"), or until when ("expect: {fired: 1}")'

TOGETHER = 'put it into this step, or under "always"'


def check(examined: Examined[ScenarioFile]) -> None:
    """Note everything wrong with a scenario whose options are each valid."""
    scenario = examined.value
    if scenario is None:
        return
    faults = [*_faults(scenario)]
    names = dict.fromkeys(name for _, name, _ in faults)
    examined.note(_wrong_faults(faults))
    before: dict[str, KeyPath] = {}
    steps = [*scenario.steps_with_labels()]
    labels = {label for _, label, _ in steps}
    for path, label, step in steps:
        examined.note(_wrong_step(path, step, before, labels, names))
        before.setdefault(label, path)


def _faults(scenario: ScenarioFile) -> Iterator[tuple[KeyPath, str, ScenarioFault]]:
    """All faults: the path of each, and the name by which the gateway knows it."""
    groups: list[tuple[KeyPath, tuple[ScenarioFault, ...] | None, str]] = [(("always",), scenario.always, "always")]
    groups += [((*path, "faults"), step.faults, label) for path, label, step in scenario.steps_with_labels()]
    for path, faults, label in groups:
        for index, (name, fault) in enumerate(named(faults, label)):
            yield (*path, index), name, fault


def _wrong_faults(faults: Sequence[tuple[KeyPath, str, ScenarioFault]]) -> Iterator[Finding]:
    known: dict[str, ScenarioFault] = {}
    of_step: defaultdict[KeyPath, dict[str, FaultRule]] = defaultdict(dict)
    for path, name, fault in faults:
        known.setdefault(name, fault)
        of_step[path[:-1]].setdefault(name, fault)
    for path, name, fault in faults:
        found = [*fault_findings(path, fault)]
        yield from found or _wrong_others(path, fault, ChainMap(of_step["always",], of_step[path[:-1]]), known)
        if known[name] is not fault:
            yield Finding((*path, "name"), f'another fault is called "{name}" too; give each its own name')


def _wrong_others(
    path: KeyPath, fault: ScenarioFault, here: Mapping[str, FaultRule], known: Collection[str]
) -> Iterator[Finding]:
    """Problems with the other faults that it depends on. `here` are those that are in force with it."""
    for finding in unknown_others(path, fault, here):
        name = fault.when.others[str(finding.path[-1])]
        if name in known and name not in here:
            yield Finding(finding.path, f'"{name}" is in force in another step; {TOGETHER}')
        else:
            yield finding


def _wrong_step(
    path: KeyPath, step: ScenarioStep, before: dict[str, KeyPath], labels: Collection[str], names: Collection[str]
) -> Iterator[Finding]:
    if step.parallel is not None:
        for option in ("faults", "for_", "expect"):
            if option in step.model_fields_set:
                yield Finding((*path, option.rstrip("_")), ALONE)
    elif step.faults is not None and step.for_ is None and step.expect is None:
        yield Finding((*path, "faults"), f"nothing says when these faults end; {LASTS}")
    elif step.for_ is None and step.expect is None and step.when is None and step.at is None:
        yield Finding(path, f"nothing happens in this step; {LASTS}")
    if step.name is not None and step.name in before:
        yield Finding((*path, "name"), f'another step is called "{step.name}" too; give each its own name')
    for position, name in enumerate(step.after or ()):
        at = (*path, "after", position)
        if name not in before and name == step.name:
            yield Finding(at, f'"{name}" is this step itself, and no step before this one; leave it out')
        elif name not in before and name in labels:
            yield Finding(at, f'"{name}" is no step before this one; put it there')
        elif name not in before:
            over = (label for label, other in before.items() if not _is_in(path, other))
            yield Finding(at, f'no step before this one is called "{name}"; {_way_out(name, over)}')
        elif _is_in(path, before[name]):
            yield Finding(at, f'this step is in "{name}"; leave it out')
    if step.expect is not None and step.for_ is not None and step.expect.within is not None:
        fact = '"for" says already when it must have come'
        yield Finding((*path, "expect", "within"), f"{fact}; leave one of the two out")
    if step.when is not None:
        yield from _wrong_expectation((*path, "when"), step.when, names, of_own=False)
    if step.expect is not None:
        yield from _wrong_expectation((*path, "expect"), step.expect, names, of_own=step.faults is not None)


def _wrong_expectation(
    path: KeyPath, expectation: Expectation, names: Collection[str], *, of_own: bool
) -> Iterator[Finding]:
    if expectation.fired is None and expectation.most is None:
        yield Finding(path, 'nothing is expected; say how often faults fire: "fired: 1"')
    elif expectation.most is not None and expectation.most < (expectation.fired or 0):
        yield Finding((*path, "most"), f'"most" is less than "fired"; the least is {expectation.fired}')
    if expectation.of is None and not of_own:
        known = nearest("", names) or "the scenario has none yet"
        yield Finding(path, f'nothing says which faults; write "of: ..."; {known}')
    for position, name in enumerate(expectation.of or ()):
        if name not in names:
            yield Finding((*path, "of", position), f'no fault is called "{name}"; {_way_out(name, names)}')


def _is_in(path: KeyPath, other: KeyPath) -> bool:
    """Is the step at `path` the one at `other`, or inside it?"""
    return path[: len(other)] == other


def _way_out(name: str, known: Iterable[str]) -> str:
    return nearest(name, known) or "give it that name"
