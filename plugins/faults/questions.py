"""Questions about the faults of one worker, asked while it runs.

| question | about | answer |
|---|---|---|
| `faults` | `names`, or null for all | the seed, the faults of the file, and each fault's numbers and end |
| `last` | `name` of a fault that was removed | how often it matched and fired |
| `in_file` | `names` | the names of them that are in the file |
| `ledger` | `after`: numbers by life, `limit` | entries after the number for this life; without one, the first |
| `release` | `name` | nothing: the fault releases all that it holds |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count, islice
from typing import Any

from plugins.faults.in_force import FaultsInForce
from plugins.faults.ledger import LedgerEntry, Result
from plugins.faults.overlay import Overlay
from proxy.plugin import Services

SHOWN = 1_000  # faults of a file, in one answer
RESULTS = {
    Result.FIRED: "fired",
    Result.NOT_NOW: "not_now",
    Result.CANNOT: "cannot",
    Result.NEAR_MISS: "near_miss",
}

_lives = count()


class FaultQuestions:
    """Answers the questions. Each instance of the plugin, in any process, has a `life` of its own."""

    def __init__(self, overlay: Overlay, in_force: FaultsInForce, services: Services) -> None:
        self._overlay, self._in_force = overlay, in_force
        self._life = f"{services.instance}-{next(_lives)}"
        self._answers: dict[str, Callable[[Mapping[str, Any]], Any]] = {
            "faults": self._faults,
            "last": self._last,
            "in_file": self._in_file,
            "ledger": self._ledger,
            "release": self._release,
        }

    def answer(self, question: str, said: Mapping[str, Any]) -> Any:
        """Answer one. Raises KeyError for an unknown question."""
        return self._answers[question](said)

    def _faults(self, said: Mapping[str, Any]) -> Any:
        faults, file, names = self._overlay.value, self._overlay.file, said["names"]
        asked = (it for it in zip(file.faults.named, file.said, strict=True) if names is None or it[0] in names)
        meant = [name for name in faults.named if names is None or name in names]
        return {
            "seed": faults.seed,
            "file": [{"name": name, "fault": fault} for name, fault in islice(asked, SHOWN)],
            "counts": {name: list(self._in_force.ledger.numbers(name)) for name in meant},
            "ends": {name: ends for name in meant if (ends := self._in_force.ends(name)) is not None},
        }

    def _last(self, said: Mapping[str, Any]) -> Any:
        return {"counts": {said["name"]: list(self._in_force.ledger.last_numbers(said["name"]))}}

    def _in_file(self, said: Mapping[str, Any]) -> Any:
        return [name for name in said["names"] if name in self._overlay.file.faults.named]

    def _ledger(self, said: Mapping[str, Any]) -> Any:
        after = said["after"].get(self._life, 0)
        found = self._in_force.ledger.after(after, said["limit"])
        return {
            "life": self._life,
            "after": found[-1][0] if found else after,
            "entries": [_entry(entry) for _, entry in found],
        }

    def _release(self, said: Mapping[str, Any]) -> None:
        self._in_force.releases.release(said["name"])


def _entry(entry: LedgerEntry) -> dict[str, Any]:
    request = entry.request
    return {
        "time": entry.at,
        "fault": entry.fault,
        "result": RESULTS[entry.result],
        "effect" if entry.result is Result.FIRED else "why": entry.why,
        "match": entry.match,
        "client": entry.client,
        "client_id": request and request.client_id,
        "connection": request and request.connection,
        "broker": entry.broker,
        "api": request and request.api,
        "version": request and request.version,
        "correlation_id": request and request.correlation_id,
    }
