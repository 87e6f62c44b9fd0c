"""Identities: the proxy's own credentials at a cluster, and the client's half of each SASL mechanism.

Rules:
* `introduce()` is the whole authentication as steps, so that a new connection and one in use (KIP-368) share it. `net`
  drives the steps on a new connection. On one in use they run beside the conversation of its link.
* A broker must prove itself where the mechanism provides for it: a SCRAM broker that does not know the password is
  refused.
* A proof of SCRAM takes milliseconds, the more the more rounds of hashing the broker names. So it is made in a thread,
  and a broker that names too many is refused.
* A broker's reason for a refusal is reported. What we sent to it never is.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any, Protocol

from proxy.core.context import Connection
from proxy.core.decisions import Alone, Ask, Call, Disconnect, Sleep, Steps
from proxy.protocol.api import SASL_AUTHENTICATE
from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from proxy.protocol.messages.sasl_handshake import SaslHandshakeRequest
from proxy.protocol.problem import ProtocolError

RENEW_AT = 0.7  # of a session's lifetime; Kafka's own clients wait for 0.85 to 0.95 of it, but serve nobody else
MOST_ITERATIONS = 100_000  # of a broker; Kafka's maximum is 16,384
SOONEST = 1.1  # seconds between two renewals: a broker refuses a second one within one second
UNPROVED = "the broker could not prove that it knows the password"
Versions = Mapping[int, tuple[int, int]]


class IntroductionError(Exception):
    """The broker refused to authenticate us. Its text says why, in a few words."""


class Speaker(Protocol):
    """The client's half of one authentication."""

    def first(self) -> bytes:
        """The first token. Raises IntroductionError if there is none."""

    def answer(self, token: bytes) -> bytes | Call | None:
        """The response to the broker's token. None: nothing more is to be sent. Raises IntroductionError.

        A `Call` gives the response, or raises, where that takes long.
        """


class Identity(Protocol):
    """One identity of the proxy towards brokers."""

    @property
    def mechanism(self) -> str: ...

    @property
    def principal(self) -> str:
        """The principal that brokers see. Empty if only the broker can tell."""

    def speak(self) -> Speaker:
        """Begin one authentication."""


class ByPlain:
    """A name and a password, sent in clear (PLAIN)."""

    def __init__(self, user: str, password: str) -> None:
        self._token = b"\0".join((b"", user.encode(), password.encode()))

    def first(self) -> bytes:
        """The name and the password: the only token there is."""
        return self._token

    def answer(self, token: bytes) -> None:
        """None: nothing follows."""


class ByScram:
    """A name, and a proof that we know the password (SCRAM)."""

    def __init__(self, mechanism: str, user: str, password: str) -> None:
        from scramp import ScramClient, ScramException  # takes 14 MB, so only where SCRAM is used

        self._client = ScramClient([mechanism], user, password)
        self._refused = ScramException, ValueError
        self._proved = False

    def first(self) -> bytes:
        """The client's first message, with the name."""
        first: str = self._client.get_client_first()
        return first.encode()

    def answer(self, token: bytes) -> Call | None:
        """Our proof. After the next token, None: that is the broker's proof, which is checked."""
        try:
            if self._proved:
                self._client.set_server_final(token.decode())
                return None
            self._proved = True
            self._client.set_server_first(token.decode())
        except self._refused:
            raise IntroductionError(UNPROVED) from None
        iterations = int(self._client.iterations)
        if iterations > MOST_ITERATIONS:
            raise IntroductionError(f"wants our password hashed {iterations:,} times")
        return Call(self._proof, apart="proofs")

    def _proof(self) -> bytes:
        try:
            final: str = self._client.get_client_final()
        except self._refused:
            raise IntroductionError(UNPROVED) from None
        return final.encode()


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


def introduce(identity: Identity, versions: Versions) -> Generator[Ask | Call, Any, float | None]:
    """Authenticate at the broker. Returns the session's lifetime in seconds, None: no end. Raises IntroductionError."""
    mechanism = identity.mechanism
    agreed = yield Ask(SaslHandshakeRequest(mechanism=mechanism), 1)
    if agreed.error_code:
        raise IntroductionError(
            f"does not speak {mechanism}, but {', '.join(agreed.mechanisms) or 'no mechanism'}"
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
            raise IntroductionError(f"refused our credentials: {answer.error_message or 'it does not say why'}")
        lifetime = answer.session_lifetime_ms
        reply = speaker.answer(bytes(answer.auth_bytes))
        token = (yield reply) if isinstance(reply, Call) else reply
    return lifetime / 1000 if lifetime > 0 else None


def _refused(error: IntroductionError | ProtocolError) -> str:
    what = "answered our introduction with what cannot be read: " if isinstance(error, ProtocolError) else ""
    return f"the broker {what}{error}"


def keep_up(connection: Connection, identity: Identity, versions: Versions, lifetime: float) -> Steps:
    """Authenticate again each time before the session ends, beside the conversation."""
    pause = lifetime * RENEW_AT
    while True:
        yield Sleep(pause)
        yield Alone()
        try:
            left = yield from introduce(identity, versions)
        except (IntroductionError, ProtocolError) as error:
            return Disconnect(_refused(error))
        connection.gate.leave()
        if left is None:
            return None
        pause = max(left * RENEW_AT, SOONEST)


def introduce_later(identities: Identities, connection: Connection, principal: str) -> Steps:
    """Authenticate on a connection in use, once the client's identity is known. Then renew that before it expires."""
    versions = connection.broker_versions
    try:
        identity = identities.of(principal)
        lifetime = yield from introduce(identity, versions)
    except (IntroductionError, ProtocolError) as error:
        return Disconnect(_refused(error))
    connection.taken_for = identity.principal
    if lifetime is not None:
        connection.gate.run(keep_up(connection, identity, versions, lifetime))
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
        """The identity for this client. Raises IntroductionError if there is none."""
        identity = self._mapped.get(principal or "", self._usual)
        if identity is None:
            raise IntroductionError(f"would not know us: no identity for {principal or 'clients without a principal'}")
        return identity


class ByBearer:
    """A bearer token (RFC 7628)."""

    def __init__(self, token: str) -> None:
        self._token = token

    def first(self) -> bytes:
        """The client's first message, with the token."""
        return b"n,,\x01auth=Bearer " + self._token.encode() + b"\x01\x01"

    def answer(self, token: bytes) -> bytes | None:
        """None, or the acknowledgement of a refusal. The broker answers that with its error."""
        return b"\x01" if token else None


class BearerIdentity:
    """An identity by a token. The token changes each time it is renewed."""

    mechanism = "OAUTHBEARER"
    principal = ""

    def __init__(self, token: Callable[[], str | None]) -> None:
        self._token = token

    def speak(self) -> Speaker:
        """Begin one authentication. Raises IntroductionError."""
        token = self._token()
        if token is None:
            raise IntroductionError("needs a token, and there is none yet")
        return ByBearer(token)
