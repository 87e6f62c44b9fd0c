"""Topic writers: the service by which a plugin writes records to a topic, through brokers that the proxy knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from proxy.protocol.records.record import Record


class TopicError(Exception):
    """Records that are not known to be on a topic: why, with a way out.

    `is_too_large`: the broker does not take so much at once; sent in less it may. `is_invalid`: the topic takes one of
    them in no case, and none with it; without it, it takes the others.
    """

    def __init__(self, why: str, *, is_too_large: bool = False, is_invalid: bool = False) -> None:
        super().__init__(why)
        self.is_too_large = is_too_large
        self.is_invalid = is_invalid


class TopicWriter(Protocol):
    """Writes records to one topic."""

    def write(self, records: Sequence[Record], seconds: float) -> None:
        """Append these records, which all have one key, and wait until all in-sync replicas have them.

        Raises TopicError where that is not known to be so within that time: then they may be there all the same. They
        stay in one partition, in the order in which they are written. In a thread of the plugin's, one call at a time.

        A call that is under way when the plugin is to stop comes to its end, and `stop` may write what is left: for 4
        seconds in all. A call that would begin in between raises what ends the thread, and has written nothing.
        """


class TopicWriting(Protocol):
    """Gives writers of topics."""

    def __call__(self, topic: str, cluster: str | None = None) -> TopicWriter:
        """A writer of this topic; of the plugin's own cluster, or another one of the configuration.

        It speaks to the brokers as the proxy itself does (TLS, SASL, `via`), on a connection of its own, which no
        plugin sees. To be called in the constructor.
        """
