"""Run-time faults: faults that are added while the proxy runs. The plugin `faults` takes them in all workers.

Rules:
* `PluginStates` holds the state in force, and nothing else does. A change makes a new state.
* Changes happen one after the other. If any worker refuses a change, nothing has changed.
* Names are unique, also against the file of faults. A fault without a name is given one.
* A fault that another one waits for cannot be removed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any

import trio

from plugins.faults.overlay import MOST
from proxy.admin.problems import HttpError
from proxy.core.state import NotTakenError, PluginStates, StateError
from proxy.text.places import KeyPath
from proxy.text.problems import Finding

PLUGIN = "faults"
LONGEST_NAME = 200
LARGEST = 8 << 10  # bytes of one fault

FaultJson = dict[str, Any]


class FaultsAtRunTime:
    """The faults in front of all clusters, in all workers."""

    def __init__(self, states: PluginStates) -> None:
        self._states = states
        self._changing = trio.Lock()
        self._made = 0  # names made so far

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

    async def listed(self, name: str | None = None) -> dict[str, Any]:
        """All faults, or the one with this name. Their counts are sums over all workers."""
        names = None if name is None else [name]
        answers = [*_all(await self.query("faults", {"names": names}))]
        added = {fault["name"]: fault for fault in self._faults if name in (None, fault["name"])}
        of_file = {it["name"]: it["fault"] for it in answers[0]["file"] if it["name"] not in added}
        both = [("file", of_file), ("api", added)]
        faults = [
            {"name": name, "source": source, "fault": fault, **_numbers(name, answers)}
            for source, those in both
            for name, fault in those.items()
        ]
        return {"seed": answers[0]["seed"], "faults": faults}

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
            new = await self._named(sent)
            await self._check_free(new, {fault["name"] for fault in before})
            await self._change(new, lambda state: {**state, "faults": [*before, *new]}, len(before))
            return [fault["name"] for fault in new]

    async def replace(self, name: str, sent: Any) -> None:
        """Replace the fault with this name."""
        async with self._changing:
            at = await self._find(name)
            if isinstance(sent, dict) and sent.get("name", name) != name:
                found = Finding(("faults", 0, "name"), f'it is called "{name}" here; leave its name out')
                raise StateError([found])
            (new,) = await self._named([{**sent, "name": name} if isinstance(sent, dict) else sent])
            faults = [*self._faults[:at], new, *self._faults[at + 1 :]]
            await self._change([new], lambda state: {**state, "faults": faults}, at)

    async def remove(self, name: str) -> dict[str, Any]:
        """Remove the fault. Returns it with its final counts."""
        async with self._changing:
            at = await self._find(name)
            waiting = [fault["name"] for fault in self._faults if name in _others(fault) and fault["name"] != name]
            if waiting:
                raise HttpError(409, f'"{waiting[0]}" waits for "{name}"; remove that first')
            removed = await self.one(name)
            faults = [*self._faults[:at], *self._faults[at + 1 :]]
            await self._change([], lambda state: {**state, "faults": faults}, at)
            # Asked after the removal. Counts from before it would miss a firing in between.
            return {**removed, **_numbers(name, [*_all(await self.query("last", {"name": name}))])}

    async def populate(self, sent: Sequence[Any], seed: int | None) -> list[str]:
        """Make exactly these the run-time faults. Unchanged ones keep their counts."""
        async with self._changing:
            new = await self._named(sent)
            await self._check_free(new, set())
            await self._change(new, lambda state: {**state, "seed": seed, "faults": new}, 0)
            return [fault["name"] for fault in new]

    async def reset(self, seed: int | None) -> None:
        """Remove all run-time faults, and count anew."""
        async with self._changing:
            await self._change([], lambda state: {"seed": seed, "generation": state["generation"] + 1, "faults": []}, 0)

    async def _change(self, new: Sequence[FaultJson], become: Callable[[Any], Any], at: int) -> None:
        """Put a new state in force. Its new faults begin at index `at`. Problems have the indexes of the request."""
        try:
            await self._states.change(PLUGIN, become(self._state))
        except StateError as error:
            raise StateError(it._replace(path=_sent(it.path, at)) for it in error.findings) from None

    async def _find(self, name: str) -> int:
        """The index of a run-time fault. Raises HttpError."""
        for at, fault in enumerate(self._faults):
            if fault["name"] == name:
                return at
        if any(name in answer for answer in _all(await self.query("in_file", {"names": [name]}))):
            raise HttpError(403, f'"{name}" stands in the file of faults; change it there')
        raise HttpError(404, f'no fault is called "{name}"')

    async def _named(self, sent: Sequence[Any]) -> list[FaultJson]:
        """The faults of a request, each with a name. Raises StateError."""
        if len(sent) > MOST:  # before each of them is looked at
            raise StateError([Finding(("faults",), f"{len(sent):,} faults; {MOST:,} are the most that there may be")])
        found = [Finding(("faults", at), problem) for at, fault in enumerate(sent) if (problem := _problem(fault))]
        found += [
            Finding(("faults", at, "name"), problem)
            for at, fault in enumerate(sent)
            if isinstance(fault, dict) and (problem := _name_problem(fault.get("name")))
        ]
        if found:
            raise StateError(found)
        taken = {fault["name"] for fault in (*self._faults, *sent) if fault.get("name") is not None}
        nameless = sum(fault.get("name") is None for fault in sent)
        made = iter(await self._new_names(nameless, taken))
        return [fault if fault.get("name") is not None else {**fault, "name": next(made)} for fault in sent]

    async def _new_names(self, count: int, taken: Container[str]) -> list[str]:
        """New names that no fault has, including those of the file."""
        found: list[str] = []
        while len(found) < count:
            new = [self._new_name(taken) for _ in range(count - len(found))]
            in_file = set().union(*_all(await self.query("in_file", {"names": new})))
            found += [name for name in new if name not in in_file]
        return found

    def _new_name(self, taken: Container[str]) -> str:
        self._made += 1
        while f"api-{self._made}" in taken:
            self._made += 1
        return f"api-{self._made}"

    async def _check_free(self, new: Sequence[FaultJson], taken: set[str]) -> None:
        """Raises HttpError if a name is taken."""
        names = [fault["name"] for fault in new]
        taken = taken.union(*_all(await self.query("in_file", {"names": names})))
        first = {name: at for at, name in reversed([*enumerate(names)])}
        found = [
            Finding(("faults", at, "name"), f'another fault is called "{name}" too; give each its own name')
            for at, name in enumerate(names)
            if name in taken or first[name] < at
        ]
        if found:
            raise HttpError(409, "a name is taken; nothing was changed", found)


def _all(answers: Mapping[int, list[Any]]) -> Iterator[Any]:
    """The answers of all plugins of all workers."""
    return (answer for each in answers.values() for answer in each)


def _numbers(name: str, answers: Sequence[Any]) -> dict[str, int]:
    counts = [answer["counts"].get(name, (0, 0)) for answer in answers]
    return {"matched": sum(matched for matched, _ in counts), "fired": sum(fired for _, fired in counts)}


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


def _problem(fault: Any) -> str | None:
    if not isinstance(fault, dict):
        return 'a fault is an object; send e.g. {"do": "hold"}'
    if len(json.dumps(fault)) > LARGEST:
        return f"the fault is larger than {LARGEST >> 10} KiB; make several of it"
    return None


def _name_problem(name: Any) -> str | None:
    if name is None:
        return None
    is_text = isinstance(name, str) and 0 < len(name) <= LONGEST_NAME and name.isprintable()
    if is_text and "/" not in name and name not in (".", ".."):  # HTTP clients remove "." and ".." from a path
        return None
    return f'a name is printable text of at the most {LONGEST_NAME} characters, without "/"; e.g. "lost-ack"'
