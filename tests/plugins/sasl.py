"""SASL frames for playbooks."""

from __future__ import annotations

import base64
import json

from proxy.core.commands import Emit
from proxy.core.events import Authenticated
from proxy.protocol.errors import ErrorCode
from proxy.protocol.frame import SIZE
from proxy.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from proxy.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from tests.proxy.core.frames import answering, asking

PLAIN_ALICE = b"\0alice\0alice-secret"
SCRAM_FIRST = b"n,,n=alice,r=abc"
KERBEROS = bytes.fromhex("06092a864886f712010202")  # its object identifier
AP_REQ = b"\x60\x35" + KERBEROS + b"\1\0" + b"k" * 40
WRAPPED = b"\x05\x04\x04\xff" + bytes(12) + b"layer" + b"k" * 12
SCRAM_FINAL = b"c=biws,r=abcdef,p=" + base64.b64encode(bytes(32))


def handshake(number: int, mechanism: str = "PLAIN", version: int = 1) -> bytes:
    """A SaslHandshake request for this mechanism."""
    return asking(SaslHandshakeRequest(mechanism=mechanism), number, version)


def agreed(number: int, error: int = 0, version: int = 1, mechanisms: tuple[str, ...] = ("PLAIN",)) -> bytes:
    """The response to a SaslHandshake."""
    return answering(SaslHandshakeResponse(error_code=error, mechanisms=list(mechanisms)), number, version)


def authenticate(number: int, token: bytes = PLAIN_ALICE, version: int = 2) -> bytes:
    """A SaslAuthenticate request with a token of the client."""
    return asking(SaslAuthenticateRequest(auth_bytes=token), number, version)


def yes(number: int, token: bytes = b"", lifetime: int = 0, version: int = 2) -> bytes:
    """A successful SaslAuthenticate response, with a token of the broker."""
    answer = SaslAuthenticateResponse(
        error_code=0, error_message="", auth_bytes=token, session_lifetime_ms=lifetime if version else 0
    )
    return answering(answer, number, version)


def no(
    number: int, message: str | None = "no", version: int = 2, error: int = ErrorCode.SASL_AUTHENTICATION_FAILED
) -> bytes:
    """A SaslAuthenticate response with an error."""
    answer = SaslAuthenticateResponse(error_code=error, error_message=message, auth_bytes=b"")
    return answering(answer, number, version)


def raw(token: bytes) -> bytes:
    """A token without a header."""
    return SIZE.pack(len(token)) + token


def jwt(**claims: object) -> str:
    """An unsigned token."""
    parts = ({"alg": "none"}, claims)
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts) + "."


def bearer(token: str) -> bytes:
    """An OAUTHBEARER client's first message."""
    return b"n,,\x01auth=Bearer " + token.encode() + b"\x01\x01"


def known(mechanism: str, principal: str | None, again: bool = False) -> Emit:
    """The event about a client that authenticated."""
    return Emit(Authenticated(mechanism, principal, again))
