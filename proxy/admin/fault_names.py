"""Names of run-time faults: those that a request gives, and those that are made for the others.

Rules:
* Names are unique, also against the file of faults, which only the workers know.
* Made names are `api-1`, `api-2`, ...
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Container, Iterable, Mapping, Sequence
from typing import Any

from plugins.faults.overlay import MOST
from proxy.admin.problems import HttpError
from proxy.core.state import StateError
from proxy.text.problems import Finding

LONGEST_NAME = 200
LARGEST = 8 << 10  # bytes of one fault

FaultJson = dict[str, Any]
AskPlugins = Callable[[str, Mapping[str, Any]], Awaitable[list[Any]]]  # a question, and what is said with it


class FaultNames:
    """Gives faults their names. `ask` has the answers of the plugins of all workers."""

    def __init__(self, ask: AskPlugins) -> None:
        self._ask = ask
        self._made = 0  # names made so far

    async def in_file(self, names: Sequence[str]) -> set[str]:
        """Those of these names that faults of the file have."""
        return set().union(*await self._ask("in_file", {"names": names}))

    async def give(self, sent: Sequence[Any], faults: Iterable[FaultJson]) -> list[FaultJson]:
        """The faults of a request, each with a name. `faults`: those that are there. Raises StateError."""
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
        taken = {fault["name"] for fault in (*faults, *sent) if fault.get("name") is not None}
        nameless = sum(fault.get("name") is None for fault in sent)
        made = iter(await self._new_names(nameless, taken))
        return [fault if fault.get("name") is not None else {**fault, "name": next(made)} for fault in sent]

    async def _new_names(self, count: int, taken: Container[str]) -> list[str]:
        """New names that no fault has, including those of the file."""
        found: list[str] = []
        while len(found) < count:
            new = [self._new_name(taken) for _ in range(count - len(found))]
            in_file = await self.in_file(new)
            found += [name for name in new if name not in in_file]
        return found

    def _new_name(self, taken: Container[str]) -> str:
        self._made += 1
        while f"api-{self._made}" in taken:
            self._made += 1
        return f"api-{self._made}"

    async def check_free(self, new: Sequence[FaultJson], taken: set[str]) -> None:
        """Raises HttpError if a name is taken."""
        names = [fault["name"] for fault in new]
        taken = taken | await self.in_file(names)
        first = {name: at for at, name in reversed([*enumerate(names)])}
        found = [
            Finding(("faults", at, "name"), f'another fault is called "{name}" too; give each its own name')
            for at, name in enumerate(names)
            if name in taken or first[name] < at
        ]
        if found:
            raise HttpError(409, "a name is taken; nothing was changed", found)


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
