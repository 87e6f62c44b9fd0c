"""A history: what the clients of a test sent, were told and read, noted as it happens; `check()` says what went wrong.

    history = History()
    producer, consumer = history.client("producer"), history.client("consumer", group="billing")

    send = producer.send("orders", "order-1")        # before the record is given to the producer
    send.acknowledged(partition=0, offset=17)        # in its callback; `send.failed()` if it is certainly not written
    consumer.read("orders", 0, 17, "order-1")        # each record that a poll gives
    consumer.commit("orders", 0, 18)                 # the offset from which the group would go on
    history.assert_clean()

# A value stands for one thing that is to be in its topic once, however often a client tries to send it.
# A send of which nothing more is noted may or may not have been written: nothing is expected of it.
# A client reads a partition from its beginning, unless `reads_from` says otherwise, which it does again after each seek
# and each rebalance; it is one thread or task at a time, but a send may be acknowledged in any other.
# All methods return at once, so that sync, asyncio and trio tests note alike.
"""

from __future__ import annotations

import threading

from chaos.anomalies import Anomalies, AnomalyKind
from chaos.checker import check
from chaos.notes import ClientHistory, Isolation


class History:
    """What all clients of a test noted."""

    def __init__(self) -> None:
        self.clients: list[ClientHistory] = []
        self._lock = threading.Lock()
        self._moment = 0

    def client(self, name: str, *, group: str | None = None, isolation: Isolation = "read_committed") -> ClientHistory:
        """One more client."""
        client = ClientHistory(self.tick, name, group, isolation)
        with self._lock:
            self.clients.append(client)
        return client

    def tick(self) -> int:
        """The moments of a history are in the order in which they were noted."""
        with self._lock:
            self._moment += 1
            return self._moment

    def check(self, *, read_to_end: bool = True) -> Anomalies:
        """All that went wrong. `read_to_end`: the clients read all there is, and what nobody read is not there."""
        return Anomalies(check(self.clients, read_to_end))

    def assert_clean(self, *, read_to_end: bool = True, but: tuple[AnomalyKind, ...] = ()) -> None:
        """Raise AssertionError with all anomalies; those of the kinds `but` may be."""
        found = self.check(read_to_end=read_to_end).without(*but)
        if found:
            raise AssertionError(str(found))
