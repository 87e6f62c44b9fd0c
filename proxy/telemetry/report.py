"""Report: what one worker says about itself, to the admin side and, as JSON, across processes."""

from dataclasses import asdict, dataclass, field
from typing import Any

from proxy.telemetry.counters import Reading
from proxy.telemetry.plugin_counters import PluginCount


@dataclass(frozen=True, slots=True)
class Report:
    """One worker at one moment. `listening`: listener -> node id -> port; `clusters`: cluster -> node id -> address."""

    ready: bool
    listening: dict[str, dict[str, int]] = field(default_factory=dict)
    clusters: dict[str, dict[str, str]] = field(default_factory=dict)
    reading: Reading = field(default_factory=dict)
    plugins: list[PluginCount] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Plain values; `Report.of` is the way back."""
        return asdict(self)

    @classmethod
    def of(cls, values: dict[str, Any]) -> "Report":
        """The report that `as_json` gave."""
        plugins = [PluginCount(*count) for count in values["plugins"]]
        return cls(**{**values, "plugins": plugins})


Reports = dict[int, Report]  # by the number of the worker
