"""Report: the state of one worker, for the admin side. It travels between processes as JSON."""

from dataclasses import asdict, dataclass, field
from typing import Any

from proxy.telemetry.counters import CountsByName
from proxy.telemetry.plugin_counters import PluginCount


@dataclass(frozen=True, slots=True)
class Report:
    """One worker at one moment. `listening`: listener -> node id -> port; `clusters`: cluster -> node id -> address."""

    ready: bool
    listening: dict[str, dict[str, int]] = field(default_factory=dict)
    clusters: dict[str, dict[str, str]] = field(default_factory=dict)
    reading: CountsByName = field(default_factory=dict)
    plugins: list[PluginCount] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """The report as plain values. `Report.of` reverses this."""
        return asdict(self)

    @classmethod
    def of(cls, values: dict[str, Any]) -> "Report":
        """The report that `as_json` wrote."""
        plugins = [PluginCount(*count) for count in values["plugins"]]
        return cls(**{**values, "plugins": plugins})


Reports = dict[int, Report]  # by worker number
