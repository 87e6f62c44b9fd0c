"""HTTP/1.1 alone: the admin side speaks no HTTP/2, however a client asks for it.

Hypercorn takes HTTP/2 by an upgrade and by prior knowledge, and has no option against either. Streams that are
stopped, and floods of frames that are answered one by one, would take the time of the loop that serves Kafka too.
"""

import h11
from hypercorn import protocol
from hypercorn.protocol.h11 import H11Protocol


class Http1Protocol(H11Protocol):
    """Never changes over to HTTP/2: an upgrade is not taken, and `PRI` is a method that nothing here knows."""

    async def _check_protocol(self, event: h11.Request) -> None:
        pass


def speak_http1_alone() -> None:
    """Have Hypercorn speak it on every connection of this process."""
    protocol.H11Protocol = Http1Protocol  # type: ignore[attr-defined]  # where its servers look for it
