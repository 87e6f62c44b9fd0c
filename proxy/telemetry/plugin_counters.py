"""Plugin counters: the counts of plugins in one worker, under names that the plugins choose.

Rules:
* A counter belongs to the worker and to its plugin's name. A plugin that is made anew continues its counts, and plugins
  of one name in front of several clusters share them.
* `acl` and a second one, `acl-2`, share an instrument; the second has the attribute `plugin`.
* Prometheus knows no "." in a name: counters whose names it could not tell apart are refused.
* Counters are made in any thread, also while counts are read: a copy of a dict is made in one step.
* An instrument has at most 1,000 sets of attributes. All further sets are counted together, under the attribute that
  OpenTelemetry has for the overflow.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from proxy.core.services import CounterFactory, check_counter
from proxy.telemetry.measures import INSTRUMENTS

MOST = 1_000  # the largest number of attribute sets of one instrument
OVERFLOW = {"otel.metric.overflow": "true"}
UNFIT = re.compile(r"[^A-Za-z0-9_./-]")  # characters that no instrument's name may have
NO_LETTER = re.compile(r"[^A-Za-z0-9]")  # to Prometheus, these are all "_"


class PluginCount(NamedTuple):
    """One count of a plugin, as reported."""

    instrument: str
    unit: str
    description: str
    attributes: dict[str, str]
    value: int


class Tally:
    """One counter."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0

    def add(self, amount: int = 1) -> None:
        """Add this amount."""
        self.value += amount


@dataclass(slots=True)
class _Instrument:
    unit: str
    description: str
    tallies: dict[frozenset[tuple[str, str]], Tally] = field(default_factory=dict)  # by attributes


class PluginCounters:
    """All counters of the plugins of one worker."""

    def __init__(self) -> None:
        self._instruments: dict[str, _Instrument] = {}
        self._told_apart = {_to_prometheus(instrument.name): instrument.name for instrument in INSTRUMENTS}

    def of(self, kind: str, name: str) -> CounterFactory:
        """The function that makes a plugin's counters. `kind` is the name that all plugins of its class share."""
        return partial(self._counter, f"doorkeeper.{UNFIT.sub('_', kind)}", {} if name == kind else {"plugin": name})

    def _counter(
        self, prefix: str, own: dict[str, str], name: str, description: str, *, unit: str = "1", **attributes: str
    ) -> Tally:
        check_counter(name)
        published = f"{prefix}.{name}"
        if published not in self._instruments:
            taken = self._told_apart.setdefault(_to_prometheus(published), published)
            if taken is not published:
                raise ValueError(f'no counter can be called "{name}": to Prometheus it is the same as "{taken}"')
        instrument = self._instruments.setdefault(published, _Instrument(unit, description))
        tallies, key = instrument.tallies, frozenset({**attributes, **own}.items())
        if key not in tallies and len(tallies) >= MOST:
            key = frozenset(OVERFLOW.items())
        return tallies.setdefault(key, Tally())

    def counted(self) -> list[PluginCount]:
        """All counts as they are now."""
        return [
            PluginCount(name, instrument.unit, instrument.description, dict(attributes), tally.value)
            for name, instrument in self._instruments.copy().items()
            for attributes, tally in instrument.tallies.copy().items()
        ]


def _to_prometheus(name: str) -> str:
    """What is left of an instrument's name for Prometheus, which puts `_total` behind it where it is not there."""
    return NO_LETTER.sub("_", name).removesuffix("_total")
