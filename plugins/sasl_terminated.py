"""SASL terminated: the proxy authenticates clients itself, and brokers see nothing of it.

Rules:
* `core/sasl/authority.py` has the table of what may come when. Until a client is authenticated the gate is narrow, its
  frames may be at most 512 KiB long, and its time is limited.
* What takes long to check takes steps. Meanwhile nothing more is taken from the client.
* A refusal is delayed, the longer the more refusals the client's address has had.
* When a client authenticates again, the mechanism and the principal must stay the same (KIP-368). It may not do so
  twice within a second. After a session's lifetime only SASL requests are taken; any other closes the connection.
* Only the end of the present session is waited for: a renewal ends the wait for that of the earlier one.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Any

from pydantic import ConfigDict, SkipValidation

from proxy.plugin import (
    API_VERSIONS,
    SASL_AUTHENTICATE,
    SASL_HANDSHAKE,
    ApiVersionsRequest,
    ApiVersionsResponse,
    Authenticated,
    Connection,
    Context,
    Decision,
    Disconnect,
    ErrorCode,
    Forward,
    Plugin,
    Refused,
    Reply,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
    Services,
    Signal,
    Sleep,
    Step,
    Steps,
    on_request,
    on_response,
    refuse,
)
from proxy.plugin.frames import Buffer, Head, Reader
from proxy.plugin.sasl import (
    AGREED,
    ALREADY_AUTHENTICATED,
    LONGEST_TOKEN,
    TABLE,
    Accepted,
    Authority,
    Comes,
    Do,
    Exchange,
    Rejected,
    Rejecting,
    SaslState,
    StepResult,
    other_mechanism,
    other_principal,
    rejected,
)

Introduce = Callable[[Connection, str], Steps]  # of the principal; an answer other than None ends the connection

BEFORE = (API_VERSIONS, SASL_HANDSHAKE, SASL_AUTHENTICATE)
SOONEST = 1.0  # seconds between two re-authentications, as with a broker
COMES = {API_VERSIONS.key: Comes.VERSIONS, SASL_HANDSHAKE.key: Comes.HANDSHAKE, SASL_AUTHENTICATE.key: Comes.TOKEN}


class SaslSession:
    """The state of one client's authentication. `number` counts how often it authenticated."""

    def __init__(self) -> None:
        self.state = SaslState.FRESH
        self.mechanism = ""
        self.exchange: Exchange | None = None
        self.number = 0
        self.renewed = Signal()  # released when the client authenticates again
        self.rests = False  # it began to re-authenticate within the last second


class SaslTerminated(Plugin):
    """Authenticates clients, and lets no other requests pass before."""

    class Options(Plugin.Options):
        """`authority` says who may come; `introduce` tells the broker for whom the proxy speaks, where it depends."""

        model_config = ConfigDict(arbitrary_types_allowed=True)

        authority: SkipValidation[Authority]
        introduce: SkipValidation[Introduce | None] = None

    def __init__(self, options: Options, services: Services) -> None:
        super().__init__(options, services)
        self._name = services.name
        self._authority = options.authority
        self._introduce = options.introduce

    def connected(self, connection: Connection) -> Steps:
        """Begin with a narrow gate: the client is not known yet."""
        session = connection.notes[self._name] = SaslSession()
        connection.gate.narrow(BEFORE, partial(self._strange, connection))
        connection.gate.limit(LONGEST_TOKEN)
        return self._hurry(session)

    def _hurry(self, session: SaslSession) -> Steps:
        patience = self._authority.patience
        yield Sleep(patience)
        return None if session.number else Disconnect(f"not authenticated within {patience:g} s (limits.first_frame)")

    def _strange(self, connection: Connection, head: Head) -> Reader | None:
        """A request that has no filter chain now."""
        session: SaslSession = connection.notes[self._name]
        comes = COMES.get(head[1] >> 16, Comes.OTHER)
        do = TABLE[session.state][comes]
        if comes is Comes.VERSIONS and do is Do.PASS:
            return None  # a version that the proxy does not know: the answer says so
        reason = "a request came before authentication"
        if session.state is SaslState.OVER:
            reason = "the session is over, and was not renewed"
        if do is Do.ILLEGAL:
            return connection.gate.refuse(head, ErrorCode.ILLEGAL_SASL_STATE, reason)
        return connection.gate.end(reason, head)

    def _check(self, ctx: Context, comes: Comes, request: ApiVersionsRequest | SaslHandshakeRequest) -> Decision:
        """The refusal that the table has for this request; None if it may go on."""
        session = self._session(ctx)
        do = TABLE[session.state][comes]
        if session.state is SaslState.LIMITED and session.rests and do is Do.AGREE:
            do = Do.REFUSE
        reason = f"{ctx.api.name} came out of turn"
        if do is Do.CLOSE:
            return Disconnect(reason)
        if do in (Do.ILLEGAL, Do.REFUSE):
            answer = refuse(ctx.api, ctx.version, request, ErrorCode.ILLEGAL_SASL_STATE)
            assert answer is not None, "both have a place for an error"
            return Reply(answer, end=reason if do is Do.ILLEGAL else None)
        return None

    def _session(self, ctx: Context) -> SaslSession:
        session: SaslSession = ctx.connection.notes[self._name]
        return session

    @on_request(ApiVersionsRequest)
    def versions(self, ctx: Context, request: ApiVersionsRequest) -> Decision:
        """ApiVersions is taken once before authentication."""
        return self._check(ctx, Comes.VERSIONS, request)

    @on_response(ApiVersionsResponse, fields="error_code api_keys")
    def versions_known(self, ctx: Context, response: ApiVersionsResponse) -> Decision:
        """Advertise the proxy's versions of the SASL APIs. After an error the client may ask again."""
        session = self._session(ctx)
        if response.error_code:
            return None
        if session.state is SaslState.FRESH:
            session.state = SaslState.ASKED
        ours = [
            ApiVersionsResponse.ApiVersion(api_key=api.key, min_version=0, max_version=api.newest)
            for api in (SASL_HANDSHAKE, SASL_AUTHENTICATE)
        ]
        keys = {api.api_key for api in ours}
        rest = [api for api in response.api_keys if api.api_key not in keys]
        response.api_keys = sorted([*rest, *ours], key=lambda api: api.api_key)
        return Forward(response)

    @on_request(SaslHandshakeRequest)
    def handshake(self, ctx: Context, request: SaslHandshakeRequest) -> Steps:
        """The client names a mechanism."""
        no = self._check(ctx, Comes.HANDSHAKE, request)
        if no is not None:
            return no
        authority, session, mechanism = self._authority, self._session(ctx), request.mechanism
        ours = list(authority.mechanisms)
        if mechanism not in ours:
            yield Sleep(self._failed(ctx.connection, "unknown", "a mechanism that is not offered here"))
            answer = SaslHandshakeResponse(error_code=ErrorCode.UNSUPPORTED_SASL_MECHANISM, mechanisms=ours)
            return Reply(answer, end="authentication failed")
        if session.number and ctx.version == 0:
            return Disconnect("authentication again, in a way that knows of no such thing (SaslHandshake v0)")
        session.exchange = self._begin(session, mechanism)
        session.state = AGREED[session.state]
        if session.number:
            session.rests = True
            ctx.connection.gate.run(self._rest(session))
            ctx.connection.gate.narrow(BEFORE, partial(self._strange, ctx.connection))
        if ctx.version == 0:
            ctx.connection.gate.take_tokens(BareTokens(self, ctx.connection))
        return Reply(SaslHandshakeResponse(error_code=ErrorCode.NONE, mechanisms=ours))

    def _begin(self, session: SaslSession, mechanism: str) -> Exchange:
        if session.number and mechanism != session.mechanism:
            return Rejecting(rejected(other_mechanism(session.mechanism, mechanism), mechanism, True))
        session.mechanism = mechanism
        return self._authority.begin(mechanism, session.number > 0)

    def _rest(self, session: SaslSession) -> Steps:
        yield Sleep(SOONEST)
        session.rests = False
        return None

    @on_request(SaslAuthenticateRequest)
    def authenticate(self, ctx: Context, request: SaslAuthenticateRequest) -> Steps:
        """A token of the client."""
        session = self._session(ctx)
        do = TABLE[session.state][Comes.TOKEN]
        if do is Do.REFUSE:
            return Reply(_no(ErrorCode.ILLEGAL_SASL_STATE, ALREADY_AUTHENTICATED))
        if do is Do.CLOSE or session.exchange is None:
            return Disconnect("a token came before a mechanism")
        outcome = yield from self.step(ctx.connection, bytes(request.auth_bytes))
        if isinstance(outcome, Rejected):
            yield Sleep(self._failed(ctx.connection, session.mechanism, outcome.why, outcome.user))
            return Reply(_no(ErrorCode.SASL_AUTHENTICATION_FAILED, outcome.message), end="authentication failed")
        lifetime = 0
        if isinstance(outcome, Accepted):
            no = yield from self.introduce(ctx.connection, outcome)
            if no is not None:
                return no
            self.accept(ctx.connection, outcome)
            lifetime = int((outcome.lifetime or 0) * 1000)
        answer = SaslAuthenticateResponse(error_code=0, error_message="", auth_bytes=outcome.token)
        if ctx.version:
            answer.session_lifetime_ms = lifetime
        return Reply(answer)

    def step(self, connection: Connection, token: bytes) -> Generator[Step, Any, StepResult]:
        """Give a token to the exchange that is under way."""
        session: SaslSession = connection.notes[self._name]
        assert session.exchange is not None
        outcome = session.exchange.step(token)
        if isinstance(outcome, Generator):
            outcome = yield from outcome
        if not isinstance(outcome, Accepted):
            return outcome
        principal = f"User:{outcome.user}"
        if session.number and principal != connection.principal:
            return rejected(other_principal(str(connection.principal), principal), session.mechanism, True)
        limits = [seconds for seconds in (self._authority.session, outcome.lifetime) if seconds is not None]
        return outcome._replace(lifetime=min(limits, default=None))

    def introduce(self, connection: Connection, accepted: Accepted) -> Steps:
        """Tell the broker for which client the proxy speaks, where that is configured."""
        session: SaslSession = connection.notes[self._name]
        if self._introduce is None or session.number:
            return None
        return (yield from self._introduce(connection, f"User:{accepted.user}"))

    def accept(self, connection: Connection, accepted: Accepted) -> None:
        """The client is authenticated: note its principal and open the gate."""
        session: SaslSession = connection.notes[self._name]
        connection.principal, connection.mechanism = f"User:{accepted.user}", session.mechanism
        if connection.taken_for is None:
            connection.taken_for = ""
        connection.gate.tell(Authenticated(session.mechanism, connection.principal, session.number > 0))
        session.renewed.release()
        session.renewed = Signal()
        session.state = SaslState.DONE if accepted.lifetime is None else SaslState.LIMITED
        session.exchange = None
        session.number += 1
        connection.gate.open()
        if accepted.lifetime is not None:
            connection.gate.run(self._expire(connection, session.number, accepted.lifetime))

    def _expire(self, connection: Connection, number: int, seconds: float) -> Steps:
        session: SaslSession = connection.notes[self._name]
        yield Sleep(seconds, unless=session.renewed)
        if session.number == number:
            session.state = SaslState.AGAIN if session.state is SaslState.AGAIN else SaslState.OVER
            connection.gate.narrow(BEFORE, partial(self._strange, connection))
        return None

    def refuse(self, connection: Connection, rejected: Rejected) -> Steps:
        """Close without an answer, after the delay of a refusal."""
        session: SaslSession = connection.notes[self._name]
        yield Sleep(self._failed(connection, session.mechanism, rejected.why, rejected.user))
        return Disconnect("authentication failed")

    def _failed(self, connection: Connection, mechanism: str, why: str, user: str | None = None) -> float:
        connection.gate.tell(Refused(mechanism, why, user and f"User:{user}"))
        return self._authority.failed(connection.client[0])


class BareTokens:
    """Tokens without headers, after SaslHandshake v0."""

    def __init__(self, plugin: SaslTerminated, connection: Connection) -> None:
        self._plugin = plugin
        self._connection = connection

    def client(self, token: bytes) -> Sequence[Buffer]:
        """A step of the client."""
        gate = self._connection.gate
        gate.wait()
        gate.run(self._go_on(self._plugin.step(self._connection, token)))
        return gate.hold() if gate.waiting else ()

    def _go_on(self, step: Generator[Step, Any, StepResult]) -> Steps:
        """Carry out what came of a token. The token itself is not kept: it may be long, and a refusal is delayed."""
        connection, plugin, gate = self._connection, self._plugin, self._connection.gate
        outcome = yield from step
        if isinstance(outcome, Rejected):
            return (yield from plugin.refuse(connection, outcome))
        if not isinstance(outcome, Accepted):
            gate.answer(outcome.token)
            gate.go_on()
            return None
        gate.take_requests()
        gate.wait()
        no = yield from plugin.introduce(connection, outcome)
        if no is None:
            gate.answer(outcome.token)
            plugin.accept(connection, outcome)
        return no

    def broker(self, token: bytes) -> None:
        """Never called: brokers take no part in this exchange."""


def _no(error: ErrorCode, message: str) -> SaslAuthenticateResponse:
    return SaslAuthenticateResponse(error_code=error, error_message=message, auth_bytes=b"")
