"""Sides: what a client library does in these tests, the same for each, so that what they see can be compared.

# Each call tries once, with little patience, and raises what the library raises: nothing is hidden by trying again.
# `seen` names an error as Kafka does where the library knows its code, else as the library does.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from tests.real.way import Way

PARTITIONS = 3
REQUEST = 1_500  # milliseconds that a request may take
DELIVERY = 2_000  # and a record, with all that is done for it
SESSION = 6_000  # a member that is not heard of for so long is gone; brokers allow no less
HEARTBEAT = 300


class Sender(Protocol):
    """Sends records without transactions, with acks=all. `throttles`: how often it was told that it is throttled."""

    throttles: int

    def send(self, value: bytes, partition: int) -> None:
        """Return when it is acknowledged."""


class Reader(Protocol):
    """A member of a group, the only one. `rebalances`: how often it was told that its partitions are taken away."""

    rebalances: int

    def poll(self) -> int:
        """How many records came within a short time."""

    def commit(self) -> None:
        """Commit what was polled."""


class Library(Protocol):
    """A client library."""

    name: str

    def sender(self, way: Way, topic: str) -> AbstractContextManager[Sender]: ...
    def reader(self, way: Way, topic: str, group: str) -> AbstractContextManager[Reader]: ...
    def transactor(self, way: Way, topic: str, transactional_id: str) -> AbstractContextManager[Sender]:
        """One that sends each record in a transaction of its own."""

    def seen(self, error: Exception) -> str:
        """The name of an error."""
