"""Counting: requests that are reported as sums are counted while they pass, and are not read.

Rules:
* A plugin that observes an API may say how its requests are counted (`Plugin.counting`). It is asked only if no other
  plugin observes that API, and if all handlers let the request and its answer pass unread (`fast_path.py`).
* A request that is taken for counting has no context and is shown to nobody. It is counted together with its answer.
* If the answer cannot be counted, or none comes, the request has a context after all (`Outcomes.reopen`): the answer is
  shown, and the outcome told, as if the request had never been taken for counting.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

from proxy.core.context import Connection, Context


class CountedExchange(Protocol):
    """What is known of a request until its answer comes: when it came, its bytes, and the memory that this takes."""

    @property
    def came(self) -> float: ...
    @property
    def size(self) -> int: ...
    @property
    def held(self) -> int: ...


class ConnectionCounting(Protocol):
    """Counts the requests of one connection, API and version. A request that it does not take is read."""

    def ask(self, data: memoryview, begin: int, size: int, header: bytes, came: float) -> CountedExchange | None:
        """A request of `size` bytes begins at `begin`; not all of it may have come.

        `header` is the part between the head of such a request and its body. None: the request has to be read; so has a
        request with another header.
        """

    def answer(self, exchange: Any, data: memoryview, begin: int, end: int, answered: float, left: float) -> bool:
        """Count a request with its answer, from `begin` to `end`. False: nothing was counted, the answer is read.

        An answer with an error must not be counted: handlers that let it pass unread may want to see that (`on_error`).
        """


class RequestCounting(Protocol):
    """Counts the requests of one API in one version."""

    def of(self, connection: Connection) -> ConnectionCounting:
        """The object that counts the requests of this connection, as long as it is open."""

    def resume(self, ctx: Context, exchange: Any) -> None:
        """`ctx` is the request's context after all: note in it what an observer of the request would have noted."""


# A request that is to be counted with its answer: its counter, what is known of it, and the sample by which it passed,
# if it has handlers. A bare tuple, as the slots: 0.03 us instead of 0.3 for a class.
PendingCount: TypeAlias = tuple[ConnectionCounting, CountedExchange, Context | None]
