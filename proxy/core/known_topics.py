"""Known topics: names and ids of topics about which a plugin has decided already, for one connection.

Rules:
* Their number is limited (`most`). When one more comes, all are forgotten, and are learned anew.
* A name that is too long for a topic is not kept: a client may send anything.
"""

from __future__ import annotations

from proxy.protocol.rollcall import nobody
from proxy.protocol.wire import LONGEST_TOPIC

ENTRY = 100  # bytes of an entry, beside its name


class KnownTopics:
    """Up to `most` topics. `values` is for `rollcall`. `held`: the bytes that they take."""

    __slots__ = ("_most", "held", "values")

    def __init__(self, most: int) -> None:
        self._most = most
        self.values = nobody()
        self.held = 0

    def add(self, topic: bytes) -> None:
        """This topic, by its name or its id, is known from now on."""
        if len(topic) > LONGEST_TOPIC:
            return
        if len(self.values) >= self._most:
            self.clear()
        before = len(self.values)
        self.values.add(topic)
        if len(self.values) > before:
            self.held += len(topic) + ENTRY

    def clear(self) -> None:
        """Forget all of them."""
        self.values.clear()
        self.held = 0
