"""Identities: the proxy's own credentials at a cluster, and how it authenticates with them.

Rules:
* `log_in()` is the whole authentication as steps, so that a new connection and one in use (KIP-368) share it. `net`
  drives the steps on a new connection. On one in use they run beside the conversation of its link.
* An answer that takes long to compute is computed in a thread.
* A session is renewed by the configuration in force: the password or the token may be another than at its beginning.
  Who the proxy is stays the same, since brokers let nobody become somebody else on a connection (KIP-368).
* A broker's reason for a refusal is reported. What we sent to it never is.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from functools import partial
from typing import Any, Protocol

from proxy.auth.speakers import ByBearer, ByPlain, ByScram, LoginError, Speaker
from proxy.core.context import Connection
from proxy.core.decisions import Alone, Ask, Call, Disconnect, Sleep, Steps
from proxy.protocol.api import SASL_AUTHENTICATE
from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from proxy.protocol.messages.sasl_handshake import SaslHandshakeRequest
from proxy.protocol.problem import ProtocolError
from proxy.text.words import shown

RENEW_AT = 0.7  # of a session's lifetime; Kafka's own clients wait for 0.85 to 0.95 of it, but serve nobody else
SOONEST = 1.1  # seconds between two renewals: a broker refuses a second one within one second
Versions = Mapping[int, tuple[int, int]]


class Identity(Protocol):
    """One identity of the proxy towards brokers."""

    @property
    def mechanism(self) -> str: ...

    @property
    def principal(self) -> str:
        """The principal that brokers see. Empty if only the broker can tell."""

    def speak(self) -> Speaker:
        """Begin one authentication."""


class Password:
    """An identity by a name and a password. Its repr has no password."""

    def __init__(self, mechanism: str, user: str, password: str) -> None:
        self.mechanism = mechanism
        self._user = user
        self._password = password

    @property
    def principal(self) -> str:
        """The user as a principal."""
        return f"User:{self._user}"

    def speak(self) -> Speaker:
        """Begin one authentication."""
        if self.mechanism == "PLAIN":
            return ByPlain(self._user, self._password)
        return ByScram(self.mechanism, self._user, self._password)


def log_in(identity: Identity, versions: Versions) -> Generator[Ask | Call, Any, float | None]:
    """Authenticate at the broker. Returns the session's lifetime in seconds, None: no end. Raises LoginError."""
    mechanism = identity.mechanism
    agreed = yield Ask(SaslHandshakeRequest(mechanism=mechanism), 1)
    if agreed.error_code:
        raise LoginError(
            f"does not speak {mechanism}, but {shown(', '.join(agreed.mechanisms) or None)}"
            if agreed.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM
            else f"refused SASL: {ErrorCode(agreed.error_code).name}"
        )
    version = min(versions.get(SASL_AUTHENTICATE.key, (0, 0))[1], SASL_AUTHENTICATE.newest)
    speaker = identity.speak()
    token: bytes | None = speaker.first()
    lifetime = 0
    while token is not None:
        answer = yield Ask(SaslAuthenticateRequest(auth_bytes=token), version)
        if answer.error_code:
            # Its text may repeat what we sent, in whatever form.
            raise LoginError(f"refused our credentials: {ErrorCode(answer.error_code).name}")
        lifetime = answer.session_lifetime_ms
        reply = partial(speaker.answer, bytes(answer.auth_bytes))
        token = (yield Call(reply, apart="proofs")) if speaker.computes else reply()
    return lifetime / 1000 if lifetime > 0 else None


def _refused(error: LoginError | ProtocolError) -> str:
    what = "answered our login with what cannot be read: " if isinstance(error, ProtocolError) else ""
    return f"the broker {what}{error}"


def keep_up(
    connection: Connection, identity: Identity, versions: Versions, lifetime: float, present: PresentIdentities
) -> Steps:
    """Authenticate again each time before the session ends, beside the conversation."""
    pause = lifetime * RENEW_AT
    while True:
        yield Sleep(pause)
        yield Alone()
        try:
            left = yield from log_in(_now(identity, present(), connection.principal), versions)
        except (LoginError, ProtocolError) as error:
            return Disconnect(_refused(error))
        connection.gate.leave()
        if left is None:
            return None
        pause = max(left * RENEW_AT, SOONEST)


def _now(identity: Identity, identities: Identities | None, principal: str | None) -> Identity:
    """The same identity as it is configured now. If there is none, the given one."""
    try:
        now = identity if identities is None else identities.of(principal)
    except LoginError:
        return identity
    is_same = (now.mechanism, now.principal) == (identity.mechanism, identity.principal)
    return now if is_same else identity


def log_in_later(identities: Identities, present: PresentIdentities, connection: Connection, principal: str) -> Steps:
    """Authenticate on a connection in use, once the client's identity is known. Then renew that before it expires."""
    versions = connection.broker_versions
    try:
        identity = identities.of(principal)
        lifetime = yield from log_in(identity, versions)
    except (LoginError, ProtocolError) as error:
        return Disconnect(_refused(error))
    connection.taken_for = identity.principal
    if lifetime is not None:
        connection.gate.run(keep_up(connection, identity, versions, lifetime, present))
    return None


class Identities:
    """The proxy's identities at a cluster: `usual`, and others for some client principals."""

    def __init__(self, usual: Identity | None, mapped: Mapping[str, Identity]) -> None:
        self._usual = usual
        self._mapped = mapped

    @property
    def by_client(self) -> bool:
        """Does the identity depend on the client?"""
        return bool(self._mapped)

    def of(self, principal: str | None) -> Identity:
        """The identity for this client. Raises LoginError if there is none."""
        identity = self._mapped.get(principal or "", self._usual)
        if identity is None:
            raise LoginError(f"would not know us: no identity for {principal or 'clients without a principal'}")
        return identity


PresentIdentities = Callable[[], Identities | None]  # those in force; None: the cluster has none any more


class BearerIdentity:
    """An identity by a token. The token changes each time it is renewed."""

    mechanism = "OAUTHBEARER"
    principal = ""

    def __init__(self, token: Callable[[], str | None]) -> None:
        self._token = token

    def speak(self) -> Speaker:
        """Begin one authentication. Raises LoginError."""
        token = self._token()
        if token is None:
            raise LoginError("needs a token, and there is none yet")
        return ByBearer(token)
