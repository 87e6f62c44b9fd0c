"""Admission: which requests of a client may be taken now.

Rules:
* While it is open, every request finds its filter chain. While it is narrow, only requests of some APIs do, and
  `strange` is asked about the others.
* While a client waits (for a step of SASL), or while a task beside the conversation is alone with the broker, no
  request finds a filter chain.
* While a client authenticates, no task is alone with the broker: it expects the client's next step. Tasks that come
  meanwhile wait, and requests find their filter chains.
* When other filters come into force, the admission stays as narrow as it is.
* It costs nothing while it is open: the lane looks requests up in `table`, and only the table changes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from proxy.core.filter_chain import FilterChain
from proxy.core.filters import Filters
from proxy.protocol.frame import Stranger

NONE: Mapping[int, FilterChain] = {}


class Admission:
    """The admission of one link. Requests are looked up in `table`; `strange` is asked about those that are not there.

    `filters` are those in force: the next request is met by them.
    """

    __slots__ = ("_allowed", "_keys", "alone", "authenticating", "ended", "filters", "strange", "table", "waiting")

    def __init__(self, filters: Filters) -> None:
        self.filters = filters
        self.table: Mapping[int, FilterChain] = filters.table
        self._allowed: Mapping[int, FilterChain] = filters.table
        self._keys: Collection[int] | None = None  # of the apis that are taken; None: all
        self.strange: Stranger | None = None
        self.waiting = False
        self.alone = False
        self.authenticating = False
        self.ended = False

    @property
    def is_closed(self) -> bool:
        """Can no request be taken?"""
        return self.waiting or (self.alone and not self.authenticating) or self.ended

    def apply(self, filters: Filters) -> None:
        """Other filters are in force."""
        self.filters = filters
        table, keys = filters.table, self._keys
        self._allowed = table if keys is None else {k: chain for k, chain in table.items() if k >> 16 in keys}
        self._turn()

    def allow(self, keys: Collection[int] | None = None) -> None:
        """Take only requests of these API keys; None: of all."""
        self._keys = keys
        self.waiting = False
        self.apply(self.filters)

    def wait(self, waiting: bool) -> None:
        """Take nothing for now, or again what is allowed."""
        self.waiting = waiting
        self._turn()

    def authenticate(self, authenticating: bool) -> None:
        """The client begins to authenticate; False: it has, or was refused."""
        self.authenticating = authenticating
        self._turn()

    def be_alone(self, alone: bool) -> None:
        """Let no further request begin; False: let requests begin again."""
        self.alone = alone
        self._turn()

    def end(self) -> None:
        """Take nothing more."""
        self.ended = True
        self._turn()

    def _turn(self) -> None:
        self.table = NONE if self.is_closed else self._allowed
