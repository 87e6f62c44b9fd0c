"""Overlay: faults that are added while the proxy runs, over those of the file.

    {"seed": 7, "generation": 2, "faults": [{"name": "lost-ack", "match": {...}, "when": {...}, "do": {...}}]}

Rules:
* A state is complete: exactly its faults follow those of the file. `seed` null: the file's seed is used.
* A fault that is the same in the state before is not read again, and keeps its counts.
* With another `generation` all counts and the ledger begin anew.
* If the file and the state have a fault of the same name, the state's fault is in force.
* A fault that depends on one that left the file is not in force until that one is there again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from plugins.faults.fault_set import FaultSet
from plugins.faults.model import FORM, FaultRule, FaultsFile, findings, unknown_others
from proxy.plugin import Finding, StateError, give_way
from proxy.plugin.files import WatchedFile, examine

MOST = 1_000  # faults in a state


class FileFaults(NamedTuple):
    """A file that was read: the faults, and the plain values of each, in the same order."""

    faults: FaultsFile
    said: tuple[Any, ...] = ()


def load(file: str) -> FileFaults:
    """Read a file of faults. Raises BadFileError."""
    examined = FORM.read(file)
    faults = examined.usable()
    return FileFaults(faults, examined.reading.value.get("faults") or ())


class RunTimeFaults(NamedTuple):
    """A state that was read. `said` has the plain values of each fault."""

    seed: int | None
    generation: int
    said: Mapping[str, Any]
    rules: dict[str, FaultRule]


class Merged(NamedTuple):
    """A set of faults, with the file and the state of which it was made."""

    file: FileFaults
    state: RunTimeFaults
    faults: FaultSet


NO_FILE = FileFaults(FaultsFile())
NOTHING = RunTimeFaults(None, 0, {}, {})


class Overlay:
    """The faults in force are `value`. `state` is the last state that was in force, if any."""

    def __init__(self, file: WatchedFile[FileFaults] | None, state: Any = None) -> None:
        self._file = file
        self._state = NOTHING if state is None else _read(state, NOTHING)
        self._merged = _merge(self.file, self._state)

    @property
    def file(self) -> FileFaults:
        """The present file."""
        return NO_FILE if self._file is None else self._file.value

    @property
    def value(self) -> FaultSet:
        """The present faults: the same object until one of them changes. From any thread."""
        file = NO_FILE if self._file is None else self._file.value
        merged, state = self._merged, self._state
        if merged.file is not file or merged.state is not state:  # asked for each request
            # Another thread may put a state in force meanwhile. Then the next call sees that this merge is old.
            merged = self._merged = _merge(file, state)
        return merged.faults

    def prepare(self, state: Any) -> Callable[[], None]:
        """Read another state. Returns a function that puts it in force. Raises StateError."""
        file, taken, before = self.file, _read(state, self._state), self._state.rules
        named = file.faults.named | taken.rules
        found: list[Finding] = []
        for index, (name, rule) in enumerate(taken.rules.items()):
            # A fault that waits already for one that left the file goes on waiting.
            others = rule.when.others
            left = {option for option, other in others.items() if before.get(name) is rule and other not in before}
            found += (it for it in unknown_others(("faults", index), rule, named) if it.path[-1] not in left)
        if found:
            raise StateError(found)
        merged = _merge(file, taken)

        def take() -> None:
            self._state, self._merged = taken, merged

        return take


def _read(state: Any, before: RunTimeFaults) -> RunTimeFaults:
    """Read a state; faults that were in the state before are taken from there. Raises StateError."""
    said: dict[str, Any] = {}
    rules: dict[str, FaultRule] = {}
    found: list[Finding] = []
    if len(state["faults"]) > MOST:
        raise StateError([Finding(("faults",), f"more than {MOST:,} faults; remove those that are not needed")])
    for index, fault in enumerate(state["faults"]):
        path, name = ("faults", index), fault["name"]
        if repr(before.said.get(name)) == repr(fault):  # repr, since 1 == True
            rule: FaultRule | None = before.rules[name]
        else:
            rule, wrong = examine(FaultRule, fault, path)
            found += wrong if rule is None else findings(path, rule)
            give_way()
        if rule is not None:
            said[name], rules[name] = fault, rule
    if found:
        raise StateError(found)
    return RunTimeFaults(state["seed"], state["generation"], said, rules)


def _merge(file: FileFaults, state: RunTimeFaults) -> Merged:
    seed = file.faults.seed if state.seed is None else state.seed
    named = _meant(file.faults.named | state.rules)
    return Merged(file, state, FaultSet(seed, state.generation, named, state.rules))


def _meant(named: dict[str, FaultRule]) -> dict[str, FaultRule]:
    """The faults without those that depend on a missing one."""
    there = {name: rule for name, rule in named.items() if named.keys() >= set(rule.when.others.values())}
    return named if len(there) == len(named) else _meant(there)
