"""Claims: who a client says it is, and who it is once the broker has accepted that.

Rules:
* A token passes only where the broker cannot read another principal in it.
* When a client authenticates again, the mechanism and the principal must stay the same (KIP-368).
"""

from __future__ import annotations

from proxy.plugin import Authenticated, Connection, ErrorCode, Refused, SaslAuthenticateResponse
from proxy.plugin.sasl import ClaimError, ObservedExchange, other_mechanism, other_principal, rejected

FAILED = "authentication failed"  # why the connection ends after a refusal


def offer(connection: Connection, exchange: ObservedExchange, token: bytes) -> None:
    """Read a token of the client. Raises ClaimError: the token must not pass to the broker."""
    exchange.client(token)
    before, claim = connection.mechanism, exchange.claim
    if before is None or claim is None:
        return
    if exchange.mechanism != before:
        raise other_mechanism(before, exchange.mechanism)
    if connection.principal and claim.user and connection.principal != f"User:{claim.user}":
        raise other_principal(connection.principal, f"User:{claim.user}")


def refused(connection: Connection, exchange: ObservedExchange, error: ClaimError) -> SaslAuthenticateResponse:
    """The answer that a broker would give to such a token. Emits the event of a refusal."""
    message, why, _ = rejected(error, exchange.mechanism, connection.mechanism is not None)
    connection.gate.tell(Refused(exchange.mechanism, why))
    failed = ErrorCode.SASL_AUTHENTICATION_FAILED
    return SaslAuthenticateResponse(error_code=failed, error_message=message, auth_bytes=b"")


def learn(connection: Connection, exchange: ObservedExchange) -> None:
    """The broker accepted the client: note who it is, and take requests of any size again."""
    again = connection.mechanism is not None
    claim = exchange.claim
    connection.mechanism = exchange.mechanism
    connection.principal = f"User:{claim.user}" if claim and claim.user is not None else None
    connection.taken_for = None  # the broker knows the client itself
    connection.delegation = claim.delegation if claim else None
    connection.gate.open()
    connection.gate.tell(Authenticated(exchange.mechanism, connection.principal, again))
