"""A set of faults that are in force together: those of the file, followed by those of run time."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from plugins.faults.model import FaultRule
from proxy.plugin import Api

ADDED = "added at run time"
NamedFault = tuple[str, FaultRule]


class FaultSet:
    """Faults by their names, in the order of the file. It never changes.

    They are tried in this order, except that faults that decide how a frame leaves come last: another fault may answer
    the request, and then the frame does not leave.

    `seed` is the seed of chance. A set of another `generation` begins with new counts. `added`: the names of the faults
    of run time.
    """

    def __init__(self, seed: int, generation: int, named: Mapping[str, FaultRule], added: Collection[str]) -> None:
        self.seed, self.generation = seed, generation
        self.named = dict(named)
        self._added = frozenset(added)
        # The key of each fault's counts. They are made here, maybe in a thread, since 1,000 of them take 25 ms.
        self.keys = {name: f"{seed} {generation} {name} {fault!r}" for name, fault in self.named.items()}
        self._by_api: dict[Api, list[NamedFault]] = {}
        for name, fault in sorted(self.named.items(), key=lambda it: it[1].do.effect.of_frames):
            for api in fault.apis:
                self._by_api.setdefault(api, []).append((name, fault))
        self.apis = frozenset(self._by_api)
        self.of_connections = [it for it in self.named.items() if it[1].do.effect.of_connections]

    def label(self, name: str) -> str:
        """The name of a fault in metrics. Faults of run time share one, since their names are unbounded."""
        return ADDED if name in self._added else name

    def of_requests(self, api: Api) -> list[NamedFault]:
        """The faults that may be applied to requests of this API."""
        return self._by_api.get(api, [])
