"""Clients with TLS: the handshake on a new connection, and what it tells about the client.

Rules:
* The number of simultaneous handshakes is limited. Beyond it a connection is closed at once, as beyond the limit of
  connections.
* With a host name for each broker, the name that a client asks for selects the broker. The name in `advertise` selects
  any. Names of unknown brokers are refused like any other name. With `shared`, another worker may have told clients of
  a broker before we hear of it. Then such a name is accepted, and the client waits until we hear of the broker.
* Each of these names has one spelling, apart from upper and lower case: `broker-01` does not name broker 1. Every
  node id up to 2^31 - 1 is read, since clients are given a name for each.
* A client certificate gives a principal, by the rules of the listener. If no rule fits, or the result is no valid name,
  the client is refused.
* A session is not resumed beyond the end of the client's certificate. OpenSSL checks a certificate only in a whole
  handshake. With TLS 1.3 each resumption gives a fresh ticket, so a session that is used often would never end. The
  client that is refused is sent no ticket: its next handshake is a whole one.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Container
from typing import NamedTuple

from proxy.auth.distinguished import distinguished_name, subject
from proxy.auth.mapping import Mapping
from proxy.config import LimitOptions
from proxy.config.model import ListenerOptions
from proxy.config.tls import ListenerTls, broker_named
from proxy.core.sasl.name import name
from proxy.core.tls import Tls
from proxy.net.tls.contexts import Shaken, files, for_clients
from proxy.net.tls.handshake import HandshakeError, shake_hands
from proxy.net.tls.sockets import TlsSocket
from proxy.net.tls.watched_files import WatchedFiles
from proxy.text.words import printable


class Welcomed(NamedTuple):
    """A client after its handshake; `broker_id` is the broker that it asked for by name."""

    socket: TlsSocket
    facts: Tls
    principal: str | None
    broker_id: int | None


class ClientTls:
    """TLS with the clients of one listener."""

    def __init__(
        self,
        name: str,
        listener: ListenerOptions,
        tls: ListenerTls,
        *,
        shared: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.brokers: Container[int] = ()  # the known brokers
        self.watched = WatchedFiles(f"listeners.{name}.tls", files(tls), lambda: for_clients(tls, self._answers_to))
        self._mapping = Mapping(tls.principal_mapping)
        self._bootstrap = (listener.advertise or "").lower()
        self._hosts = tls.hosts
        self._shared = shared
        self._clock = clock
        self._under_way = 0

    async def welcome(self, client: socket.socket, broker_id: int | None, limits: LimitOptions) -> Welcomed:
        """Do the handshake. Raises HandshakeError. The caller closes the socket."""
        if self._under_way >= limits.handshakes:
            raise HandshakeError(f"{self._under_way} handshakes are under way (limits.handshakes)", "handshakes")
        self._under_way += 1
        tls = TlsSocket(client, self.watched.value)
        try:
            await shake_hands(tls, limits.handshake)
        except HandshakeError as error:
            if isinstance(tls.tls, Shaken) and tls.tls.unknown:
                named = printable(tls.tls.asked or "")
                asked = f'host "{named}" (SNI), which is none of ours' if named else "no host (SNI)"
                raise HandshakeError(f"it asked for {asked}") from error
            raise
        finally:
            self._under_way -= 1
        return self._welcomed(tls, broker_id)

    def _welcomed(self, tls: TlsSocket, broker_id: int | None) -> Welcomed:
        assert isinstance(tls.tls, Shaken)
        asked, cipher, shown = tls.tls.asked, tls.tls.cipher(), tls.tls.getpeercert(True)
        if shown is not None and tls.tls.session_reused and _expires(tls.tls) <= self._clock():
            raise HandshakeError("it resumed a session, and its certificate has expired since")
        whom, principal = (None, None) if shown is None else self._whom(shown)
        facts = Tls(tls.tls.version() or "", cipher[0] if cipher else "", asked, whom)
        if self._hosts is not None:
            broker_id = self._broker(asked)
        return Welcomed(tls, facts, principal, broker_id)

    def _whom(self, certificate: bytes) -> tuple[str, str]:
        """The subject of a certificate, and its principal. Raises HandshakeError."""
        try:
            whom = distinguished_name(subject(certificate))
            found = self._mapping.principal(whom)
            if found is None:
                raise HandshakeError(f'no rule of principal_mapping fits "{whom}"')
            return whom, f"User:{name(found.encode())}"
        except (ValueError, IndexError) as error:
            raise HandshakeError(f"whom its certificate is about cannot be told: {error}") from None

    def _answers_to(self, name: str | None) -> bool:
        if self._hosts is None or name == self._bootstrap:
            return True
        asked = self._broker(name)
        return asked is not None and (self._shared or asked in self.brokers)

    def _broker(self, name: str | None) -> int | None:
        """The id in a broker's host name."""
        return broker_named(self._hosts, name) if self._hosts and name else None


def _expires(shaken: ssl.SSLObject) -> float:
    """When the certificate of the other side expires, in seconds since 1970."""
    certificate = shaken.getpeercert()
    assert certificate is not None
    return ssl.cert_time_to_seconds(str(certificate["notAfter"]))
