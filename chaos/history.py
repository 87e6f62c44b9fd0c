"""A history: notes on what the clients of a test sent, were told and read. `check()` finds anomalies in it.

    history = History()
    producer, consumer = history.client("producer"), history.client("consumer", group="billing")

    send = producer.send("orders", "order-1")        # before the record is given to the producer
    send.acknowledged(partition=0, offset=17)        # in its callback; `send.failed()` if it is certainly not written
    consumer.read("orders", 0, 17, "order-1")        # each record that a poll gives
    consumer.commit("orders", 0, 18)                 # the next offset that the group will read
    history.assert_clean()

Rules:
* A value must be in its topic once, however often a client tries to send it.
* Older records of a key may be missing in a topic that `compacts()` names. Each send to it has a key.
* A send without a noted result may have been written or not: the checker expects nothing of it.
* A client reads a partition from its beginning, unless `reads_from` says otherwise. Note `reads_from` after each seek
  and each rebalance. One thread or task at a time uses a client, but any thread may acknowledge a send.
* No method blocks, so sync, asyncio and trio tests use the same calls.
"""

from __future__ import annotations

import threading

from chaos.anomalies import Anomalies, AnomalyKind
from chaos.checker import check
from chaos.notes import ClientHistory, Isolation


class History:
    """The notes of all clients of a test."""

    def __init__(self) -> None:
        self.clients: list[ClientHistory] = []
        self._compacted = set[str]()
        self._lock = threading.Lock()
        self._moment = 0

    def client(self, name: str, *, group: str | None = None, isolation: Isolation = "read_committed") -> ClientHistory:
        """Add a client."""
        client = ClientHistory(self.tick, name, group, isolation)
        with self._lock:
            self.clients.append(client)
        return client

    def compacts(self, *topics: str) -> None:
        """The broker compacts these topics: a record may be gone once a later one of its key is in the log."""
        self._compacted.update(topics)

    def tick(self) -> int:
        """The number of the next note. Notes are numbered in their order."""
        with self._lock:
            self._moment += 1
            return self._moment

    def check(self, *, read_to_end: bool = True) -> Anomalies:
        """All anomalies. `read_to_end`: the clients read everything, so a record that none of them read is missing."""
        return Anomalies(check(self.clients, read_to_end, self._compacted))

    def assert_clean(self, *, read_to_end: bool = True, but: tuple[AnomalyKind, ...] = ()) -> None:
        """Raise AssertionError with all anomalies, except those of the kinds `but`."""
        found = self.check(read_to_end=read_to_end).without(*but)
        if found:
            raise AssertionError(str(found))
