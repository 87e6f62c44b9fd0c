"""Counting: what is told of many requests together is counted while they pass, and nobody reads them.

Rules:
* A plugin that observes an API may say how its requests are counted (`Plugin.counting`). It is asked only where nobody
  else observes that API, and whoever handles it lets the request pass unread (`fast_path.py`), and the answer too.
* A request that it takes has no context, and is shown to nobody. It is counted together with its answer.
* Where its answer cannot be counted, or none comes, it has a context after all (`Outcomes.reopen`): the answer is
  shown, and its outcome told, as if it had never been counted.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

from proxy.core.context import Connection, Context


class CountedExchange(Protocol):
    """What is known of a request until its answer comes: when it came, its bytes, and how many of ours it takes."""

    @property
    def came(self) -> float: ...
    @property
    def size(self) -> int: ...
    @property
    def held(self) -> int: ...


class ConnectionCounting(Protocol):
    """Counts the requests of one connection, API and version. What it does not take is read."""

    def ask(self, data: memoryview, begin: int, size: int, header: bytes, came: float) -> CountedExchange | None:
        """A request of `size` bytes begins at `begin`; not all of it may have come.

        `header` is what stands between the head of such a request and its body. None: it has to be read; so has one
        with another header.
        """

    def answer(self, exchange: Any, data: memoryview, begin: int, end: int, answered: float, left: float) -> bool:
        """Count the request with its answer, from `begin` to `end`. False: nothing was counted, the answer is read."""


class RequestCounting(Protocol):
    """Counts the requests of one API in one version."""

    def of(self, connection: Connection) -> ConnectionCounting:
        """What counts those of this connection, as long as it is there."""

    def resume(self, ctx: Context, exchange: Any) -> None:
        """This is its context after all: note what whoever is shown a request would have noted."""


# A request that is to be counted with its answer: what counts it, what is known of it, and the sample by which it
# passed, if anybody handles it. A bare tuple, as the slots: 0.03 us where a class of its own takes 0.3.
PendingCount: TypeAlias = tuple[ConnectionCounting, CountedExchange, Context | None]
