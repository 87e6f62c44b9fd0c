"""Report: what one worker says about itself, to the admin side and, as JSON, across processes."""

from dataclasses import dataclass, field
from typing import Any

from proxy.telemetry.counters import Reading


@dataclass(frozen=True, slots=True)
class Report:
    """One worker at one moment. `clusters`: the addresses of their brokers as discovered, by node id."""

    ready: bool
    listening: tuple[str, ...] = ()
    clusters: dict[str, dict[str, str]] = field(default_factory=dict)
    reading: Reading = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Plain values; `Report.of` is the way back."""
        return {"ready": self.ready, "listening": self.listening, "clusters": self.clusters, "reading": self.reading}

    @classmethod
    def of(cls, values: dict[str, Any]) -> "Report":
        """The report that `as_json` gave."""
        return cls(values["ready"], tuple(values["listening"]), values["clusters"], values["reading"])


Reports = dict[int, Report]  # by the number of the worker
