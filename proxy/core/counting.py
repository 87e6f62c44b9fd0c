"""Counting: what is told of many requests together is counted while they pass, and nobody reads them.

Rules:
* A plugin that observes an API may say how its requests are counted (`Plugin.counting`). It is asked only where nobody
  else observes that API, and whoever handles it lets the request pass unread (`fast_path.py`), and the answer too.
* A request that it takes has no context, and is shown to nobody. It is counted together with its answer.
* Where its answer cannot be counted, or none comes, it has a context after all (`Outcomes.reopen`): the answer is
  shown, and its outcome told, as if it had never been counted.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from proxy.core.context import Connection, Context


class CountedExchange(Protocol):
    """What is known of a request until its answer comes: when it came, its bytes, and how many of ours it takes."""

    @property
    def came(self) -> float: ...
    @property
    def size(self) -> int: ...
    @property
    def held(self) -> int: ...


class RequestCounting(Protocol):
    """Counts the requests of one API in one version. What it does not take is read."""

    def ask(
        self, connection: Connection, frame: memoryview, body: int, size: int, came: float
    ) -> CountedExchange | None:
        """A request of `size` bytes, of which `frame` may be but the beginning. None: it has to be read."""

    def answer(
        self,
        connection: Connection,
        exchange: Any,
        data: memoryview,
        begin: int,
        end: int,
        answered: float,
        left: float,
    ) -> bool:
        """Count the request with its answer, from `begin` to `end`. False: nothing was counted, the answer is read."""

    def resume(self, ctx: Context, exchange: Any) -> None:
        """This is its context after all: note what whoever is shown a request would have noted."""


class PendingCount(NamedTuple):
    """A request that is to be counted with its answer. `sample`: that by which it passed, if anybody handles it."""

    exchange: CountedExchange
    sample: Context | None

    @property
    def held(self) -> int:
        """Bytes that are kept until the answer is there."""
        return self.exchange.held
