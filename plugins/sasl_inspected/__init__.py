"""SASL passed through: the proxy learns a client's principal when the broker accepts its token.

Rules:
* Nothing is changed: the broker is the authority. A client's token passes only where the broker cannot read another
  principal in it: a token that is not as its mechanism defines it is refused here, as a broker refuses it.
* After each step of the client, the client is not read until the broker has answered. So an answer belongs to the last
  claim, whatever the client sends ahead.
* After SaslHandshake v0 the tokens have no headers (`raw_tokens.py`). A mechanism of which nobody here knows the last
  token is refused in v0.
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

from functools import partial

from plugins.sasl_inspected.claims import FAILED, learn, offer, refused
from plugins.sasl_inspected.raw_tokens import RawTokens
from proxy.plugin import (
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
from proxy.plugin.frames import Head, Reader
from proxy.plugin.sasl import (
    FIRST_BYTE,
    GSSAPI,
    LONGEST_TOKEN,
    SUBJECT,
    ClaimError,
    ObservedExchange,
    following,
    observed_exchange,
)

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
        connection.gate.take_tokens(RawTokens(connection, observed_exchange(GSSAPI)))
        return connection.gate.hold()

    @on_request(SaslHandshakeRequest)
    def handshake(self, ctx: Context, request: SaslHandshakeRequest) -> Decision:
        """The client names a mechanism."""
        if ctx.version == 0 and request.mechanism not in self._bare:
            ctx.connection.gate.tell(Refused("unknown", "a mechanism whose tokens cannot be told from requests"))
            error = ErrorCode.UNSUPPORTED_SASL_MECHANISM
            return Reply(SaslHandshakeResponse(error_code=error, mechanisms=self._bare), end=FAILED)
        ctx.connection.notes[self._name] = observed_exchange(request.mechanism, self._followed)
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
