"""Newcomer: a client that was accepted and has no link yet. It owns the sockets of the client and of its broker."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from proxy.net.outgoing import AnySocket
from proxy.net.snapshot import ListenerInForce

if TYPE_CHECKING:  # its import takes 10 MB, so only where there are certificates
    from proxy.net.tls.clients import Welcomed

ENDED = "the proxy ended it before it was served"


class Newcomer:
    """A client that was accepted. `client` is its socket, with TLS after the handshake.

    `here`: the settings that were in force when it came. They count for it even if others come into force meanwhile.
    `why`: the reason if it is not served.
    """

    __slots__ = ("broker", "broker_id", "client", "here", "is_served", "peer", "welcomed", "why")

    def __init__(
        self, client: socket.socket, peer: tuple[str, int], broker_id: int | None, here: ListenerInForce
    ) -> None:
        self.client: AnySocket = client
        self.peer = peer
        self.broker_id = broker_id  # None: it came to the bootstrap port
        self.here = here
        self.welcomed: Welcomed | None = None
        self.broker: AnySocket | None = None
        self.is_served = False  # a link has its sockets
        self.why = ENDED

    def close(self) -> None:
        """Close its sockets."""
        try:
            if self.broker is not None:
                self.broker.close()
        finally:
            self.client.close()
