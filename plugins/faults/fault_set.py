"""A set of faults that are in force together: those of the file, and those of run time behind them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from plugins.faults.model import FaultRule
from proxy.plugin import Api

ADDED = "added at run time"
NamedFault = tuple[str, FaultRule]


class FaultSet:
    """Faults by their names, in the order in which they are tried. It never changes.

    `seed` is what chance goes by. What was counted for a set of another `generation` counts no more. `added`: the names
    of those of run time.
    """

    def __init__(self, seed: int, generation: int, named: Mapping[str, FaultRule], added: Collection[str] = ()) -> None:
        self.seed, self.generation = seed, generation
        self.named = dict(named)
        self._added = frozenset(added)
        # What each counts under: made here, since a set may be made in a thread, and 1,000 of them take 25 ms.
        self.keys = {name: f"{seed} {generation} {name} {fault!r}" for name, fault in self.named.items()}
        self._by_api: dict[Api, list[NamedFault]] = {}
        for name, fault in self.named.items():
            for api in fault.apis:
                self._by_api.setdefault(api, []).append((name, fault))
        self.apis = frozenset(self._by_api)
        self.of_connections = [it for it in self.named.items() if it[1].do.effect.of_connections]

    def label(self, name: str) -> str:
        """What metrics call a fault: names of run time are chosen without end, so these all have one."""
        return ADDED if name in self._added else name

    def of_requests(self, api: Api) -> list[NamedFault]:
        """Those that may be done to requests of this API."""
        return self._by_api.get(api, [])
