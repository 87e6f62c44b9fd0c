"""Admission: which requests of a client may be taken now.

Rules:
* Open, every request finds its filter chain. Narrow, only those of some apis do; `strange` is asked about the others.
* While a client waits (for a step of SASL), or while somebody beside the conversation is alone with the broker, no
  request finds one.
* It costs nothing while it is open: the lane looks into another table.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from proxy.core.filters import FilterChain, Filters
from proxy.protocol.frame import Stranger

NONE: Mapping[int, FilterChain] = {}


class Admission:
    """Of one link. `table` is what a request is looked up in; `strange` is asked about requests that are not there."""

    __slots__ = ("_allowed", "alone", "ended", "strange", "table", "waiting")

    def __init__(self, filters: Filters) -> None:
        self.table: Mapping[int, FilterChain] = filters.table
        self._allowed: Mapping[int, FilterChain] = filters.table
        self.strange: Stranger | None = None
        self.waiting = False
        self.alone = False
        self.ended = False

    @property
    def is_closed(self) -> bool:
        """Is there nothing that could be taken?"""
        return self.waiting or self.alone or self.ended

    def allow(self, table: Mapping[int, FilterChain], keys: Collection[int] | None = None) -> None:
        """Take requests of these api keys alone; None: all."""
        self._allowed = table if keys is None else {k: chain for k, chain in table.items() if k >> 16 in keys}
        self.wait(False)

    def wait(self, waiting: bool) -> None:
        """Take nothing for now, or again what is allowed."""
        self.waiting = waiting
        self._turn()

    def be_alone(self, alone: bool) -> None:
        """Let no further request begin, or again."""
        self.alone = alone
        self._turn()

    def end(self) -> None:
        """Take nothing more."""
        self.ended = True
        self._turn()

    def _turn(self) -> None:
        self.table = NONE if self.is_closed else self._allowed
