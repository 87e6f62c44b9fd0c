"""SASL terminated: the proxy authenticates clients itself, and brokers see nothing of it.

Rules:
* `session.py` says what may come when. A client's time to authenticate is limited.
* While a token is checked, nothing more is taken from the client. That time is not the client's: after a restart all
  clients come at once, and each waits until the passwords of those before it are checked.
"""

from __future__ import annotations

from pydantic import ConfigDict, SkipValidation

from plugins.sasl_terminated.authenticator import Authenticator, LogIn, PresentAuthority
from plugins.sasl_terminated.bare_tokens import BareTokens
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
    Reply,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
    Services,
    Sleep,
    Steps,
    Wait,
    on_request,
    on_response,
)
from proxy.plugin.sasl import AGREED, Accepted, Authority, Rejected, SaslState


class SaslTerminated(Plugin):
    """Authenticates clients, and lets no other requests pass before."""

    class Options(Plugin.Options):
        """`authority` says who may come; `log_in` tells the broker for whom the proxy speaks, where it depends.

        `present`: the authority of the listener in the configuration in force, which may be a later one.
        """

        model_config = ConfigDict(arbitrary_types_allowed=True)

        authority: SkipValidation[Authority]
        log_in: SkipValidation[LogIn | None] = None
        present: SkipValidation[PresentAuthority | None] = None

    def __init__(self, options: Options, services: Services) -> None:
        super().__init__(options, services)
        self._name = services.name
        self._authority = options.authority
        present = options.present or (lambda: options.authority)
        self._authenticator = Authenticator(options.authority, present, options.log_in, services.clock)

    def connected(self, connection: Connection) -> Steps:
        """Begin with a narrow gate: the client is not known yet."""
        session = connection.notes[self._name] = SaslSession(connection)
        return self._hurry(session)

    def _hurry(self, session: SaslSession) -> Steps:
        left, granted = self._authority.patience, 0.0
        while left > 0:
            yield Sleep(left)
            yield Wait(session.checked)
            if session.number:
                return None
            left, granted = session.waited - granted, session.waited
        late = "the broker did not authenticate us for it" if session.is_logged_in else "not authenticated"
        return Disconnect(f"{late} within {self._authority.patience:g} s (limits.first_frame)")

    def _session(self, connection: Connection) -> SaslSession:
        session: SaslSession = connection.notes[self._name]
        return session

    @on_request(ApiVersionsRequest)
    def versions(self, ctx: Context, request: ApiVersionsRequest) -> Decision:
        """ApiVersions is taken once before authentication."""
        return self._session(ctx.connection).check(ctx, request)

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
        no = session.check(ctx, request)
        if no is not None:
            return no
        authority = self._authenticator.authority
        if authority is None:
            return Disconnect("the listener has no SASL of its own any more")
        ours = list(authority.mechanisms)
        if mechanism not in ours:
            yield Sleep(self._authenticator.failed(ctx.connection, "unknown", "a mechanism that is not offered here"))
            answer = SaslHandshakeResponse(error_code=ErrorCode.UNSUPPORTED_SASL_MECHANISM, mechanisms=ours)
            return Reply(answer, end="authentication failed")
        if session.number and ctx.version == 0:
            return Disconnect("authentication again, in a way that knows of no such thing (SaslHandshake v0)")
        session.exchange = self._authenticator.begin(session, authority, mechanism)
        session.state = AGREED[session.state]
        if session.number:
            session.begin_again()
        if ctx.version == 0:
            session.is_bare = True
            ctx.connection.gate.take_tokens(BareTokens(self._authenticator, session))
        return Reply(SaslHandshakeResponse(error_code=ErrorCode.NONE, mechanisms=ours))

    @on_request(SaslAuthenticateRequest)
    def authenticate(self, ctx: Context, request: SaslAuthenticateRequest) -> Steps:
        """A token of the client."""
        session = self._session(ctx.connection)
        no = session.check(ctx, request)
        if no is not None:
            return no
        outcome = yield from self._authenticator.step(session, bytes(request.auth_bytes))
        if isinstance(outcome, Rejected):
            yield Sleep(self._authenticator.failed(ctx.connection, session.mechanism, outcome.why, outcome.user))
            failed = ErrorCode.SASL_AUTHENTICATION_FAILED
            answer = SaslAuthenticateResponse(error_code=failed, error_message=outcome.message, auth_bytes=b"")
            return Reply(answer, end="authentication failed")
        lifetime = 0
        if isinstance(outcome, Accepted):
            no = yield from self._authenticator.log_in(session, outcome)
            if no is not None:
                return no
            session.accept(outcome)
            lifetime = int((outcome.lifetime or 0) * 1000)
        answer = SaslAuthenticateResponse(error_code=0, error_message="", auth_bytes=outcome.token)
        if ctx.version:
            answer.session_lifetime_ms = lifetime
        return Reply(answer)
