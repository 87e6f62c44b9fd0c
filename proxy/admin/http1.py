"""HTTP/1.1 only: the admin side never speaks HTTP/2, even if a client asks for it.

Hypercorn accepts HTTP/2 by upgrade and by prior knowledge, and has no option against either. Stopped streams, and
floods of frames that each need an answer, would take time from the event loop that serves Kafka too.
"""

import h11
from hypercorn import protocol
from hypercorn.protocol.h11 import H11Protocol


class Http1Protocol(H11Protocol):
    """Never switches to HTTP/2: it ignores an upgrade, and `PRI` is an unknown method to it."""

    async def _check_protocol(self, event: h11.Request) -> None:
        pass


def speak_http1_alone(as_protocol: type[Http1Protocol] = Http1Protocol) -> None:
    """Have Hypercorn use this protocol on every connection of this process."""
    protocol.H11Protocol = as_protocol  # type: ignore[attr-defined]  # where its servers look for it
