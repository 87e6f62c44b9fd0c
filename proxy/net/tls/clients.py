"""Clients with TLS: from a fresh connection to one whose client is known as far as TLS knows it.

Rules:
* Handshakes at a time are limited: one over the limit is closed at once, as a connection over its limit is.
* With a host name a broker, the name that a client asks for says which broker it wants; the name in `advertise` says
  any. Names of brokers that were never seen are refused like any other; with `others`, other workers that may have told
  clients of a broker before we hear of it, such a name is let in, and has to wait until we do.
* Each of these names has one spelling, but for its case: `broker-01` is none of broker 1.
* A client certificate gives a principal, by the rules of the listener. Where no rule fits, or what comes of it is no
  name, the client is refused.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Container
from dataclasses import dataclass

from proxy.config import LimitOptions
from proxy.config.model import ListenerOptions
from proxy.config.tls import ID, ListenerTls
from proxy.core.distinguished import distinguished_name, subject
from proxy.core.mapping import Mapping
from proxy.core.sasl.name import name
from proxy.core.tls import Tls
from proxy.net.tls.contexts import Shaken, files, for_clients
from proxy.net.tls.handshake import HandshakeError, shake_hands
from proxy.net.tls.sockets import TlsSocket
from proxy.net.tls.watched_files import WatchedFiles
from proxy.text.words import printable


@dataclass(frozen=True, slots=True)
class Welcomed:
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
        others: bool = False,
    ) -> None:
        self.brokers: Container[int] = ()  # those that are known
        self.kept = WatchedFiles(f"listeners.{name}.tls", files(tls), lambda: for_clients(tls, self._answers_to))
        self._mapping = Mapping(tls.principal_mapping)
        self._bootstrap = (listener.advertise or "").lower()
        before, _, after = (tls.hosts or "").partition(ID)
        self._hosts = re.compile(f"{re.escape(before)}(0|[1-9][0-9]{{0,8}}){re.escape(after)}") if tls.hosts else None
        self._others = others
        self._under_way = 0

    async def welcome(self, client: socket.socket, broker_id: int | None, limits: LimitOptions) -> Welcomed:
        """Do the handshake. Raises HandshakeError; closing the socket is left to the caller."""
        if self._under_way >= limits.handshakes:
            raise HandshakeError(f"{self._under_way} handshakes are under way (limits.handshakes)", "handshakes")
        self._under_way += 1
        tls = TlsSocket(client, self.kept.value)
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
        whom, principal = (None, None) if shown is None else self._whom(shown)
        facts = Tls(tls.tls.version() or "", cipher[0] if cipher else "", asked, whom)
        if self._hosts is not None:
            broker_id = self._broker(asked)
        return Welcomed(tls, facts, principal, broker_id)

    def _whom(self, certificate: bytes) -> tuple[str, str]:
        """Whom a certificate is about, and which principal that is. Raises HandshakeError."""
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
        return asked is not None and (self._others or asked in self.brokers)

    def _broker(self, name: str | None) -> int | None:
        """The id in a broker's name."""
        match = self._hosts.fullmatch(name) if self._hosts and name else None
        return int(match[1]) if match else None
