"""SASL terminated: the proxy authenticates clients itself, and brokers see nothing of it.

Rules:
* `session.py` says what may come when. A client's time to authenticate is limited.
* What takes long to check takes steps. Meanwhile nothing more is taken from the client.
* A refusal is delayed, the longer the more refusals the client's address has had.
* When a client authenticates again, the mechanism and the principal must stay the same (KIP-368).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

from pydantic import ConfigDict, SkipValidation

from plugins.sasl_terminated.session import SaslSession
from proxy.plugin import (
    SASL_AUTHENTICATE,
    SASL_HANDSHAKE,
    ApiVersionsRequest,
    ApiVersionsResponse,
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
    Sleep,
    Step,
    Steps,
    on_request,
    on_response,
)
from proxy.plugin.frames import Buffer
from proxy.plugin.sasl import (
    AGREED,
    ALREADY_AUTHENTICATED,
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
        session = connection.notes[self._name] = SaslSession(connection)
        return self._hurry(session)

    def _hurry(self, session: SaslSession) -> Steps:
        patience = self._authority.patience
        yield Sleep(patience)
        return None if session.number else Disconnect(f"not authenticated within {patience:g} s (limits.first_frame)")

    def _session(self, connection: Connection) -> SaslSession:
        session: SaslSession = connection.notes[self._name]
        return session

    @on_request(ApiVersionsRequest)
    def versions(self, ctx: Context, request: ApiVersionsRequest) -> Decision:
        """ApiVersions is taken once before authentication."""
        return self._session(ctx.connection).check(ctx, Comes.VERSIONS, request)

    @on_response(ApiVersionsResponse, fields="error_code api_keys")
    def versions_known(self, ctx: Context, response: ApiVersionsResponse) -> Decision:
        """Advertise the proxy's versions of the SASL APIs. After an error the client may ask again."""
        session = self._session(ctx.connection)
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
        session, mechanism = self._session(ctx.connection), request.mechanism
        no = session.check(ctx, Comes.HANDSHAKE, request)
        if no is not None:
            return no
        ours = list(self._authority.mechanisms)
        if mechanism not in ours:
            yield Sleep(self._failed(ctx.connection, "unknown", "a mechanism that is not offered here"))
            answer = SaslHandshakeResponse(error_code=ErrorCode.UNSUPPORTED_SASL_MECHANISM, mechanisms=ours)
            return Reply(answer, end="authentication failed")
        if session.number and ctx.version == 0:
            return Disconnect("authentication again, in a way that knows of no such thing (SaslHandshake v0)")
        session.exchange = self._begin(session, mechanism)
        session.state = AGREED[session.state]
        if session.number:
            session.begin_again()
        if ctx.version == 0:
            ctx.connection.gate.take_tokens(BareTokens(self, ctx.connection, session))
        return Reply(SaslHandshakeResponse(error_code=ErrorCode.NONE, mechanisms=ours))

    def _begin(self, session: SaslSession, mechanism: str) -> Exchange:
        if session.number and mechanism != session.mechanism:
            return Rejecting(rejected(other_mechanism(session.mechanism, mechanism), mechanism, True))
        session.mechanism = mechanism
        return self._authority.begin(mechanism, session.number > 0)

    @on_request(SaslAuthenticateRequest)
    def authenticate(self, ctx: Context, request: SaslAuthenticateRequest) -> Steps:
        """A token of the client."""
        session = self._session(ctx.connection)
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
            session.accept(outcome)
            lifetime = int((outcome.lifetime or 0) * 1000)
        answer = SaslAuthenticateResponse(error_code=0, error_message="", auth_bytes=outcome.token)
        if ctx.version:
            answer.session_lifetime_ms = lifetime
        return Reply(answer)

    def step(self, connection: Connection, token: bytes) -> Generator[Step, Any, StepResult]:
        """Give a token to the exchange that is under way."""
        session = self._session(connection)
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
        session = self._session(connection)
        if self._introduce is None or session.number:
            return None
        return (yield from self._introduce(connection, f"User:{accepted.user}"))

    def refuse(self, connection: Connection, rejected: Rejected) -> Steps:
        """Close without an answer, after the delay of a refusal."""
        session = self._session(connection)
        yield Sleep(self._failed(connection, session.mechanism, rejected.why, rejected.user))
        return Disconnect("authentication failed")

    def _failed(self, connection: Connection, mechanism: str, why: str, user: str | None = None) -> float:
        connection.gate.tell(Refused(mechanism, why, user and f"User:{user}"))
        return self._authority.failed(connection.client[0])


class BareTokens:
    """Tokens without headers, after SaslHandshake v0."""

    def __init__(self, plugin: SaslTerminated, connection: Connection, session: SaslSession) -> None:
        self._plugin = plugin
        self._connection = connection
        self._session = session

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
            self._session.accept(outcome)
        return no

    def broker(self, token: bytes) -> None:
        """Never called: brokers take no part in this exchange."""


def _no(error: ErrorCode, message: str) -> SaslAuthenticateResponse:
    return SaslAuthenticateResponse(error_code=error, error_message=message, auth_bytes=b"")
