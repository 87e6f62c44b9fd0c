"""Run-time faults: faults that are added while the proxy runs. The plugin `faults` takes them in all workers.

Rules:
* `PluginStates` holds the state in force, and nothing else does. A change makes a new state.
* Changes happen one after the other. If any worker refuses a change, nothing has changed.
* Each fault has a name of its own (`fault_names.py`).
* A fault that another one waits for cannot be removed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import trio

from proxy.admin.fault_names import FaultJson, FaultNames
from proxy.admin.problems import HttpError
from proxy.core.state import NotTakenError, PluginStates, StateError
from proxy.text.places import KeyPath
from proxy.text.problems import Finding

PLUGIN = "faults"


class FaultsAtRunTime:
    """The faults in front of all clusters, in all workers."""

    def __init__(self, states: PluginStates) -> None:
        self._states = states
        self._changing = trio.Lock()
        self._names = FaultNames(self._ask)

    @property
    def _state(self) -> dict[str, Any]:
        return self._states.of(PLUGIN) or {"seed": None, "generation": 0, "faults": []}

    @property
    def _faults(self) -> list[FaultJson]:
        """The faults that were added at run time."""
        faults: list[FaultJson] = self._state["faults"]
        return faults

    async def query(self, question: str, said: Mapping[str, Any]) -> dict[int, list[Any]]:
        """The answers of the plugins. Raises NoPluginError, or NotTakenError if no worker answers."""
        answers = await self._states.query(PLUGIN, question, said)
        if not any(answers.values()):
            raise NotTakenError("no worker answers; they may be starting")
        return answers

    async def _ask(self, question: str, said: Mapping[str, Any]) -> list[Any]:
        """The answers of all plugins of all workers, likewise."""
        return [answer for each in (await self.query(question, said)).values() for answer in each]

    async def listed(self, name: str | None = None) -> dict[str, Any]:
        """All faults, or the one with this name. Their counts are sums over all workers."""
        names = None if name is None else [name]
        answers = await self._ask("faults", {"names": names})
        added = {fault["name"]: fault for fault in self._faults if name in (None, fault["name"])}
        of_file = {it["name"]: it["fault"] for it in answers[0]["file"] if it["name"] not in added}
        both = [("file", of_file), ("api", added)]
        faults = [
            {"name": name, "source": source, "fault": fault, **_numbers(name, answers), "ends": _ends(name, answers)}
            for source, those in both
            for name, fault in those.items()
        ]
        return {"seed": answers[0]["seed"], "resets": self._state["generation"], "faults": faults}

    async def one(self, name: str) -> dict[str, Any]:
        """The fault with this name. Raises HttpError."""
        found: list[dict[str, Any]] = (await self.listed(name))["faults"]
        if not found:
            raise HttpError(404, f'no fault is called "{name}"')
        return found[0]

    async def add(self, sent: Sequence[Any]) -> list[str]:
        """Add these faults at the end. Returns their names. Raises HttpError, and as `PluginStates.change` does."""
        async with self._changing:
            before = self._faults
            new = await self._names.give(sent, self._faults)
            await self._names.check_free(new, {fault["name"] for fault in before})
            await self._change({"faults": [*before, *new]}, len(before))
            return [fault["name"] for fault in new]

    async def replace(self, name: str, sent: Any) -> None:
        """Replace the fault with this name."""
        async with self._changing:
            at = await self._find(name)
            if isinstance(sent, dict) and sent.get("name", name) != name:
                found = Finding(("faults", 0, "name"), f'it is called "{name}" here; leave its name out')
                raise StateError([found])
            named = {**sent, "name": name} if isinstance(sent, dict) else sent
            (new,) = await self._names.give([named], self._faults)
            await self._change({"faults": [*self._faults[:at], new, *self._faults[at + 1 :]]}, at)

    async def remove(self, name: str) -> dict[str, Any]:
        """Remove the fault. Returns it with its final counts."""
        async with self._changing:
            at = await self._find(name)
            waiting = [fault["name"] for fault in self._faults if name in _others(fault) and fault["name"] != name]
            if waiting:
                raise HttpError(409, f'"{waiting[0]}" waits for "{name}"; remove that first')
            removed = await self.one(name)
            await self._change({"faults": [*self._faults[:at], *self._faults[at + 1 :]]}, at)
            # Asked after the removal. Counts from before it would miss a firing in between.
            return {**removed, **_numbers(name, await self._ask("last", {"name": name}))}

    async def populate(self, sent: Sequence[Any], seed: int | None) -> list[str]:
        """Make exactly these the run-time faults. Unchanged ones keep their counts, unless the seed is another."""
        async with self._changing:
            new = await self._names.give(sent, self._faults)
            await self._names.check_free(new, set())
            seeded = {} if seed is None else {"seed": seed}
            await self._change({**seeded, "faults": new}, 0)
            return [fault["name"] for fault in new]

    async def reset(self, seed: int | None) -> None:
        """Remove all run-time faults, and count anew."""
        async with self._changing:
            await self._change({"seed": seed, "generation": self._state["generation"] + 1, "faults": []}, 0)

    async def _change(self, changed: Mapping[str, Any], at: int) -> None:
        """Put a state in force that differs from the present one in these values.

        The faults of the request begin at index `at` of its faults. Problems have the indexes of the request.
        """
        try:
            await self._states.change(PLUGIN, {**self._state, **changed})
        except StateError as error:
            raise StateError(it._replace(path=_sent(it.path, at)) for it in error.findings) from None

    async def _find(self, name: str) -> int:
        """The index of a run-time fault. Raises HttpError."""
        for at, fault in enumerate(self._faults):
            if fault["name"] == name:
                return at
        if name in await self._names.in_file([name]):
            raise HttpError(403, f'"{name}" stands in the file of faults; change it there')
        raise HttpError(404, f'no fault is called "{name}"')


def _numbers(name: str, answers: Sequence[Any]) -> dict[str, int]:
    counts = [answer["counts"].get(name, (0, 0)) for answer in answers]
    return {"matched": sum(matched for matched, _ in counts), "fired": sum(fired for _, fired in counts)}


def _ends(name: str, answers: Sequence[Any]) -> float | None:
    """When its window is over; in front of several clusters, when the last one is."""
    return max((answer["ends"][name] for answer in answers if name in answer["ends"]), default=None)


def _others(fault: FaultJson) -> set[Any]:
    """The names of the faults that this one waits for."""
    when = fault.get("when", {})
    return {when.get("after_rule"), when.get("while_rule")}


def _sent(path: KeyPath, at: int) -> KeyPath:
    """The path in the request for a path in the state."""
    match path:
        case ("faults", int(index), *rest) if index >= at:
            return ("faults", index - at, *rest)
    return path
