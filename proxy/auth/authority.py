"""The authority of one listener: its SASL mechanisms, the check of each, and the delay after a refusal.

Rules:
* Every refusal is delayed. The first from an address waits 0.1 s (Kafka's connection.failed.authentication.delay.ms),
  each further one within a minute twice as long, up to 5 s. After a minute without a refusal an address is forgotten.
* Beyond 10,000 addresses, the one that failed longest ago is forgotten.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping

from proxy.core.backoff import backoff
from proxy.core.sasl.authority import Exchange

Begin = Callable[[bool], Exchange]  # the argument `again`: the client was authenticated before

FIRST_DELAY = 0.1
LONGEST_DELAY = 5.0
FORGOTTEN_AFTER = 60.0
ADDRESSES = 10_000


class Failures:
    """How often each address was refused recently."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failed: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def delay(self, host: str) -> float:
        """Count one more failure of an address. Returns how many seconds to wait before the client is told."""
        now = self._clock()
        count, last = self._failed.pop(host, (0, now))
        count = 1 if now - last > FORGOTTEN_AFTER else count + 1
        self._failed[host] = count, now
        if len(self._failed) > ADDRESSES:
            self._failed.popitem(last=False)
        return backoff(FIRST_DELAY, LONGEST_DELAY, count)


class ListenerAuthority:
    """The authority of one listener. `ways` maps mechanisms to their checks, in the order in which they are offered."""

    def __init__(self, ways: Mapping[str, Begin], session: float | None, patience: float, failures: Failures) -> None:
        self.mechanisms = tuple(ways)
        self.session = session
        self.patience = patience
        self._ways = ways
        self._failures = failures

    def begin(self, mechanism: str, again: bool) -> Exchange:
        """Begin an authentication by one of the mechanisms."""
        return self._ways[mechanism](again)

    def failed(self, host: str) -> float:
        """A client from this address failed. Returns the seconds to wait before it is told."""
        return self._failures.delay(host)
