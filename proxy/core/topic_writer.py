"""Topic writers: the service with which a plugin writes records to a topic, through brokers that the proxy knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from proxy.protocol.records.record import Record


class TopicError(Exception):
    """It is not known whether the records are on the topic: why, with a way out.

    `is_too_large`: the broker does not take so much at once; it may take the records in smaller portions.
    `is_invalid`: one of the records is never taken, and no other is taken together with it; without it, the others are.
    """

    def __init__(self, why: str, *, is_too_large: bool = False, is_invalid: bool = False) -> None:
        super().__init__(why)
        self.is_too_large = is_too_large
        self.is_invalid = is_invalid


class TopicWriter(Protocol):
    """Writes records to one topic."""

    def write(self, records: Sequence[Record], seconds: float) -> None:
        """Append these records, which all have one key, and wait until all in-sync replicas have them.

        Raises TopicError if that is not known within `seconds`: the records may have been written all the same. They
        stay in one partition, in the order in which they are written. Call this in a thread of the plugin's, one call
        at a time.

        A call that is under way when the plugin stops is finished, and `stop` may write the rest: for 4 seconds in all.
        A call that would begin in between raises an exception that ends the thread, and writes nothing.
        """


class TopicWriting(Protocol):
    """Gives writers of topics."""

    def __call__(self, topic: str, cluster: str | None = None) -> TopicWriter:
        """A writer of this topic, in the plugin's own cluster or in another one of the configuration.

        It talks to the brokers as the proxy itself does (TLS, SASL, `via`), on a connection of its own, which no plugin
        sees. Call this in the constructor.
        """
