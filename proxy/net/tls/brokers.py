"""Brokers with TLS: a connection to one, sealed."""

from __future__ import annotations

import socket

from proxy.config.tls import ClusterTls
from proxy.net.tls.handshake import shake_hands
from proxy.net.tls.sockets import TlsSocket
from proxy.net.tls.watched_files import WatchedFiles


class BrokerTls:
    """TLS with the brokers of one cluster."""

    def __init__(self, name: str, tls: ClusterTls) -> None:
        from proxy.net.tls.contexts import files, for_brokers  # reads certificates: 10 MB, only where there are any

        self.watched = WatchedFiles(f"clusters.{name}.tls", files(tls), lambda: for_brokers(tls))
        self._server_name = tls.server_name

    async def seal(self, connected: socket.socket, host: str, seconds: float) -> TlsSocket:
        """Do the handshake with the broker that was dialled as `host`. Raises HandshakeError."""
        sealed = TlsSocket(connected, self.watched.value, self._server_name or host.rstrip("."))
        await shake_hands(sealed, seconds)
        return sealed
