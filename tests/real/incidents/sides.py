"""Sides: one interface for all client libraries in these tests, so that their errors can be compared.

Rules:
* Each call tries once, with a short timeout, and raises the library's own error: no retry hides anything.
* `seen` gives Kafka's name of an error where the library knows its code, else the library's name.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from tests.real.way import Way

PARTITIONS = 3
REQUEST = 1_500  # milliseconds that a request may take
DELIVERY = 2_000  # milliseconds to deliver a record, with all its requests
SESSION = 6_000  # the session timeout of a member in milliseconds; brokers allow no less
HEARTBEAT = 300


class Sender(Protocol):
    """Sends records without transactions, with acks=all. `throttles`: how often the library reported throttling."""

    throttles: int

    def send(self, value: bytes, partition: int) -> None:
        """Send a record, and return when it is acknowledged."""


class Reader(Protocol):
    """The only member of a group. `rebalances`: how often its partitions were revoked."""

    rebalances: int

    def poll(self) -> int:
        """Poll for a short time, and give the number of records."""

    def commit(self) -> None:
        """Commit the polled records."""


class Library(Protocol):
    """A client library."""

    name: str

    def sender(self, way: Way, topic: str) -> AbstractContextManager[Sender]: ...
    def reader(self, way: Way, topic: str, group: str) -> AbstractContextManager[Reader]: ...
    def transactor(self, way: Way, topic: str, transactional_id: str) -> AbstractContextManager[Sender]:
        """A sender that sends each record in its own transaction."""

    def seen(self, error: Exception) -> str:
        """The name of an error."""
