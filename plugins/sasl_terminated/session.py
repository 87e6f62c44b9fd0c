"""Session: what one client that authenticates at the proxy has done so far, and what its connection takes.

Rules:
* `core/sasl/authority.py` has the table of what may come when. Until a client is authenticated the gate is narrow, and
  its frames may be at most 512 KiB long.
* A client may not authenticate again twice within a second.
* After a session's lifetime only SASL requests are taken; any other closes the connection.
* Only the end of the present session is waited for: a renewal ends the wait for that of the earlier one.
"""

from __future__ import annotations

from proxy.plugin import (
    API_VERSIONS,
    SASL_AUTHENTICATE,
    SASL_HANDSHAKE,
    Authenticated,
    Connection,
    Context,
    Decision,
    Disconnect,
    ErrorCode,
    Reply,
    Request,
    Signal,
    Sleep,
    Steps,
    refuse,
)
from proxy.plugin.frames import Head, Reader
from proxy.plugin.sasl import (
    ALREADY_AUTHENTICATED,
    LONGEST_TOKEN,
    TABLE,
    Accepted,
    Exchange,
    SaslAction,
    SaslInput,
    SaslState,
)

BEFORE = (API_VERSIONS, SASL_HANDSHAKE, SASL_AUTHENTICATE)
SOONEST = 1.0  # seconds between two re-authentications, as with a broker
COMES = {
    API_VERSIONS.key: SaslInput.VERSIONS,
    SASL_HANDSHAKE.key: SaslInput.HANDSHAKE,
    SASL_AUTHENTICATE.key: SaslInput.TOKEN,
}


class SaslSession:
    """The authentication of one client. `number` counts how often it authenticated.

    `exchange`: its exchange of tokens that is under way, in `mechanism`. `waited`: seconds for which the client waited
    until its tokens were checked. `checked`: released while none of them is being checked. `is_logged_in`: its tokens
    were accepted, and the broker is told for whom the proxy speaks.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.state = SaslState.FRESH
        self.mechanism = ""
        self.exchange: Exchange | None = None
        self.number = 0
        self.is_logged_in = False
        self.waited = 0.0
        self.checked = Signal()
        self.checked.release()
        self._renewed = Signal()  # released when the client authenticates again
        self.is_bare = False  # its tokens have no headers: no request comes before it is authenticated
        self._rests = False  # it began to re-authenticate within the last second
        self._narrow()
        connection.gate.limit(LONGEST_TOKEN)

    def _narrow(self) -> None:
        self.connection.gate.narrow(BEFORE, self._strange)

    def _strange(self, head: Head) -> Reader | None:
        """A request that has no filter chain now."""
        gate, comes = self.connection.gate, COMES.get(head[1] >> 16, SaslInput.OTHER)
        do = TABLE[self.state][comes]
        if comes is SaslInput.VERSIONS and do is SaslAction.PASS:
            return None  # a version that the proxy does not know: the answer says so
        reason = "a request came before authentication"
        if self.state is SaslState.OVER:
            reason = "the session is over, and was not renewed"
        if do is SaslAction.ILLEGAL:
            return gate.refuse(head, ErrorCode.ILLEGAL_SASL_STATE, reason)
        return gate.end(reason, head)

    def check(self, ctx: Context, request: Request) -> Decision:
        """The refusal that the table has for this request of SASL or ApiVersions; None if it may go on."""
        if self.is_bare:
            return Disconnect("a request came where a token without a header was due (SaslHandshake v0)")
        comes = COMES[ctx.api.key]
        do = TABLE[self.state][comes]
        if self.state is SaslState.LIMITED and self._rests and do is SaslAction.AGREE:
            do = SaslAction.REFUSE
        reason, message = f"{ctx.api.name} came out of turn", None
        if comes is SaslInput.TOKEN:
            reason, message = "a token came before a mechanism", ALREADY_AUTHENTICATED
        if do is SaslAction.CLOSE:
            return Disconnect(reason)
        if do in (SaslAction.ILLEGAL, SaslAction.REFUSE):
            answer = refuse(ctx.api, ctx.version, request, ErrorCode.ILLEGAL_SASL_STATE, message)
            assert answer is not None, "all of them have a place for an error"
            return Reply(answer, end=reason if do is SaslAction.ILLEGAL else None)
        return None

    def begin_again(self) -> None:
        """The client named a mechanism to authenticate again. Until that has succeeded the gate is narrow."""
        self._rests = True
        self.connection.gate.run(self._rest())
        self._narrow()

    def _rest(self) -> Steps:
        yield Sleep(SOONEST)
        self._rests = False
        return None

    def accept(self, accepted: Accepted) -> None:
        """The client is authenticated: note its principal and open the gate."""
        connection = self.connection
        connection.principal, connection.mechanism = f"User:{accepted.user}", self.mechanism
        if connection.taken_for is None:
            connection.taken_for = ""
        connection.gate.tell(Authenticated(self.mechanism, connection.principal, self.number > 0))
        self._renewed.release()
        self._renewed = Signal()
        self.state = SaslState.DONE if accepted.lifetime is None else SaslState.LIMITED
        self.exchange, self.is_bare = None, False
        self.number += 1
        connection.gate.open()
        if accepted.lifetime is not None:
            connection.gate.run(self._expire(self.number, accepted.lifetime))

    def _expire(self, number: int, seconds: float) -> Steps:
        yield Sleep(seconds, unless=self._renewed)
        if self.number == number and TABLE[self.state][SaslInput.TIME] is SaslAction.END:
            self.state = SaslState.OVER
            self._narrow()
        return None
