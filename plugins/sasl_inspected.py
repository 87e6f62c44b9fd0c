"""SASL passed through: the proxy learns a client's principal when the broker accepts its token.

Rules:
* Nothing is changed: the broker is the authority. A client's token passes only where the broker cannot read another
  principal in it: a token that is not as its mechanism defines it is refused here, as a broker refuses it.
* When a client authenticates again, the mechanism and the principal must stay the same (KIP-368).
* After each step of the client, the client is not read until the broker has answered. So an answer belongs to the last
  claim, whatever the client sends ahead.
* After SaslHandshake v0 the tokens have no headers, so no request may pass for one. The exchange of PLAIN, SCRAM and
  OAUTHBEARER ends when the broker accepts it, that of GSSAPI with the client's last token. Of any other mechanism
  nobody here knows the last token: it is refused in v0.
* Clients of 0.9 begin with a bare token of GSSAPI, whose first byte is 0x60: no API has such a key.
* From SaslHandshake on, until the broker has accepted or refused the client, requests have at most 512 KiB, as there.

    what comes                       what follows
    SaslHandshake, any version       the claim is dropped; wait
    in v0, an unknown mechanism      refuse it and end
    its answer: error                go on; the broker will close
    its answer: v1                   go on, with an exchange
    its answer: v0                   tokens
    SaslAuthenticate, or a token     read the claim: odd, refuse it and end; else wait
    its answer: error                the exchange is over; go on
    its answer: not yet              go on
    its answer: yes                  the claim counts; go on with requests
    its answer: yes, to no claim     end: as whom the broker takes the client is not known
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from proxy.plugin import (
    Authenticated,
    Connection,
    Context,
    Decision,
    Disconnect,
    ErrorCode,
    Plugin,
    Refused,
    Reply,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
    Services,
    on_request,
    on_response,
)
from proxy.plugin.frames import HOLD, Buffer, Head, Reader
from proxy.plugin.sasl import (
    FIRST_BYTE,
    GSSAPI,
    LONGEST_TOKEN,
    SUBJECT,
    ClaimError,
    ObservedExchange,
    following,
    observe,
    other_mechanism,
    other_principal,
    rejected,
)

FAILED = "authentication failed"
NOT_TAKEN = "the broker did not take it"


class SaslInspected(Plugin):
    """Learn who the client is."""

    class Options(Plugin.Options):
        """`principal_claim`: what of an OAUTHBEARER token brokers take for who the client is."""

        principal_claim: str = SUBJECT

    def __init__(self, options: Options, services: Services) -> None:
        super().__init__(options, services)
        self._name = services.name
        self._followed = following(options.principal_claim)
        self._bare = [*self._followed, GSSAPI]  # the mechanisms that may come without headers

    def connected(self, connection: Connection) -> None:
        """The client may begin with a bare token instead of a request."""
        connection.gate.greet(partial(self._first, connection))

    def _first(self, connection: Connection, head: Head) -> Reader | None:
        if head[1] >> 24 != FIRST_BYTE or not connection.gate.untouched:
            return None
        connection.gate.take_tokens(RawTokens(connection, observe(GSSAPI)))
        return connection.gate.hold()

    @on_request(SaslHandshakeRequest)
    def handshake(self, ctx: Context, request: SaslHandshakeRequest) -> Decision:
        """The client names a mechanism."""
        if ctx.version == 0 and request.mechanism not in self._bare:
            ctx.connection.gate.tell(Refused("unknown", "a mechanism whose tokens cannot be told from requests"))
            error = ErrorCode.UNSUPPORTED_SASL_MECHANISM
            return Reply(SaslHandshakeResponse(error_code=error, mechanisms=self._bare), end=FAILED)
        ctx.connection.notes[self._name] = observe(request.mechanism, self._followed)
        ctx.connection.gate.limit(LONGEST_TOKEN)
        ctx.connection.gate.wait()
        return None

    @on_response(SaslHandshakeResponse)
    def agreed(self, ctx: Context, response: SaslHandshakeResponse) -> Decision:
        """The broker takes the mechanism, or refuses it."""
        gate = ctx.connection.gate
        if response.error_code:
            ctx.connection.notes.pop(self._name, None)
            gate.open()
        elif ctx.version == 0:
            gate.take_tokens(RawTokens(ctx.connection, ctx.connection.notes.pop(self._name)))
            return None
        gate.go_on()
        return None

    @on_request(SaslAuthenticateRequest)
    def token(self, ctx: Context, request: SaslAuthenticateRequest) -> Decision:
        """A step of the client."""
        exchange = ctx.connection.notes.get(self._name)
        if exchange is not None:
            try:
                offer(ctx.connection, exchange, bytes(request.auth_bytes))
            except ClaimError as error:
                return Reply(refused(ctx.connection, exchange, error), end=FAILED)
        ctx.connection.gate.wait()
        return None

    @on_response(SaslAuthenticateResponse)
    def answer(self, ctx: Context, response: SaslAuthenticateResponse) -> Decision:
        """A step of the broker."""
        exchange: ObservedExchange | None = ctx.connection.notes.get(self._name)
        if response.error_code:
            ctx.connection.notes.pop(self._name, None)
            ctx.connection.gate.open()
            if exchange is not None:
                claimed = exchange.claim and exchange.claim.user
                ctx.connection.gate.tell(Refused(exchange.mechanism, NOT_TAKEN, claimed and f"User:{claimed}"))
        elif exchange is None:
            return Disconnect("the broker took a token of a client that named no mechanism")
        else:
            try:
                done = exchange.broker(bytes(response.auth_bytes))
            except ClaimError as error:
                return Disconnect(str(error))
            if done:
                learn(ctx.connection, exchange)
            if done and (exchange.in_turn or exchange.is_over):
                del ctx.connection.notes[self._name]
        ctx.connection.gate.go_on()
        return None


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
