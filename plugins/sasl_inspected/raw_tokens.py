"""Raw tokens: those that client and broker exchange after SaslHandshake v0. They have no headers.

Rules:
* No request may pass for a token. The exchange of PLAIN, SCRAM and OAUTHBEARER ends when the broker accepts it, that of
  GSSAPI with the client's last token.
"""

from __future__ import annotations

from collections.abc import Sequence

from plugins.sasl_inspected.claims import FAILED, learn, offer, refused
from proxy.plugin import Connection
from proxy.plugin.frames import HOLD, Buffer
from proxy.plugin.sasl import ClaimError, ObservedExchange


class RawTokens:
    """Tokens without headers, passed between client and broker."""

    def __init__(self, connection: Connection, exchange: ObservedExchange) -> None:
        self._connection = connection
        self._exchange = exchange

    def client(self, token: bytes) -> Sequence[Buffer] | None:
        """A step of the client, or its first request."""
        gate = self._connection.gate
        if self._exchange.is_over:
            learn(self._connection, self._exchange)
            gate.take_requests(token)
            return HOLD
        try:
            offer(self._connection, self._exchange, token)
        except ClaimError as error:
            refused(self._connection, self._exchange, error)
            return gate.end(FAILED)
        if self._exchange.in_turn:
            gate.wait()
        return None

    def broker(self, token: bytes) -> Sequence[Buffer] | None:
        """A step of the broker."""
        gate = self._connection.gate
        try:
            done = self._exchange.in_turn and self._exchange.broker(token)
        except ClaimError as error:
            return gate.distrust(str(error))
        if done:
            learn(self._connection, self._exchange)
            gate.take_requests()
        else:
            gate.go_on()
        return None
