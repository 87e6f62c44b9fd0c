"""The authority of one listener: which mechanisms it offers, what checks them, and how long refused clients wait.

Rules:
* Every refusal is delayed: the first from an address by 0.1 s (Kafka's connection.failed.authentication.delay.ms), each
  further one within a minute by twice as long, up to 5 s. An address that is refused no more is forgotten.
* Of more than 10,000 addresses the one that failed longest ago is forgotten.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping

from proxy.core.backoff import backoff
from proxy.core.sasl.authority import Exchange

Begin = Callable[[bool], Exchange]  # again: the client was authenticated before

FIRST_DELAY = 0.1
LONGEST_DELAY = 5.0
FORGOTTEN_AFTER = 60.0
ADDRESSES = 10_000


class Failures:
    """How often each address was refused lately."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failed: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def delay(self, host: str) -> float:
        """One more from there: the seconds to wait before it is told."""
        now = self._clock()
        count, last = self._failed.pop(host, (0, now))
        count = 1 if now - last > FORGOTTEN_AFTER else count + 1
        self._failed[host] = count, now
        if len(self._failed) > ADDRESSES:
            self._failed.popitem(last=False)
        return backoff(FIRST_DELAY, LONGEST_DELAY, count)


class ListenerAuthority:
    """Who may come to one listener. `ways` has the mechanisms, in the order in which they are offered."""

    def __init__(self, ways: Mapping[str, Begin], session: float | None, patience: float, failures: Failures) -> None:
        self.mechanisms = tuple(ways)
        self.session = session
        self.patience = patience
        self._ways = ways
        self._failures = failures

    def begin(self, mechanism: str, again: bool) -> Exchange:
        """A client wants to authenticate by one of the mechanisms."""
        return self._ways[mechanism](again)

    def failed(self, host: str) -> float:
        """A client from there did not succeed."""
        return self._failures.delay(host)
