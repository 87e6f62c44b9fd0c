"""Logins: SASL as hostile clients speak it, and a broker that verifies their credentials."""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import Any

from proxy.auth.passwords import PlainExchange, ScramExchange
from proxy.auth.verifiers import verifiers
from proxy.core.sasl.authority import Accepted, Challenge
from proxy.protocol.api import SASL_AUTHENTICATE, SASL_HANDSHAKE
from proxy.protocol.codec import decode
from proxy.protocol.frame import SIZE
from proxy.protocol.header import read_request_header, request_frame, response_frame
from proxy.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from proxy.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from tests.hostile.client import Client
from tests.hostile.stage import Peer
from tests.proxy.auth.stepping import step

PASSWORDS = {"canary": "of-the-canary", "alice": "of-alice", "admin": "of-admin", "al:ice": "of-al:ice"}
ITERATIONS = 4_096
KNOWN = {user: verifiers(password, ITERATIONS) for user, password in PASSWORDS.items()}


def handshake(mechanism: str = "PLAIN", version: int = 1, number: int = 1) -> bytes:
    """A SaslHandshake request for this mechanism."""
    return request_frame(SaslHandshakeRequest(mechanism=mechanism), version, number, "hostile")


def token(data: bytes, version: int = 2, number: int = 2) -> bytes:
    """A SaslAuthenticate request with this token."""
    return request_frame(SaslAuthenticateRequest(auth_bytes=data), version, number, "hostile")


def raw(data: bytes) -> bytes:
    """A token without a header, after SaslHandshake v0."""
    return SIZE.pack(len(data)) + data


def agree(client: Client, mechanism: str = "PLAIN") -> None:
    """Ask for a mechanism, which the proxy must accept."""
    answer = client.ask(SaslHandshakeRequest(mechanism=mechanism), 1)
    assert answer.error_code == 0, answer


def show(client: Client, data: bytes) -> Any:
    """Send a token; its response, or None where the connection was closed instead."""
    try:
        return client.ask(SaslAuthenticateRequest(auth_bytes=data), 2, 2)
    except EOFError:
        return None


def plain(client: Client, user: str, password: str) -> bool:
    """Log in by PLAIN; True where that succeeds."""
    agree(client)
    answer = show(client, f"\0{user}\0{password}".encode())
    return answer is not None and answer.error_code == 0


def scram(client: Client, first: str, password: str = PASSWORDS["alice"], binding: str = "", final: str = "{}") -> bool:
    """Log in by SCRAM-SHA-256 with this first message; `final` wraps the correct final message."""
    agree(client, "SCRAM-SHA-256")
    header, bare = first[: first.index(",", first.index(",") + 1) + 1], first.split(",", 2)[2]
    answer = show(client, first.encode())
    if answer is None or answer.error_code:
        return False
    said = bytes(answer.auth_bytes).decode()
    parts = dict(part.split("=", 1) for part in said.split(","))
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), base64.b64decode(parts["s"]), int(parts["i"]))
    without = f"c={base64.b64encode((binding or header).encode()).decode()},r={parts['r']}"
    key = hmac.digest(salted, b"Client Key", "sha256")
    signature = hmac.digest(hashlib.sha256(key).digest(), f"{bare},{said},{without}".encode(), "sha256")
    proof = bytes(a ^ b for a, b in zip(key, signature, strict=True))
    answer = show(client, final.format(f"{without},p={base64.b64encode(proof).decode()}").encode())
    return answer is not None and answer.error_code == 0


class Anybody:
    """Accepts any bearer token, and does not read its subject."""

    def step(self, token: bytes) -> Accepted:
        return Accepted("anybody", b"")


def judging(peer: Peer) -> None:
    """A broker that verifies `PASSWORDS`; it answers requests of any client."""
    exchange: Any = None
    bare = False
    for frame in peer.frames():
        if bare:
            answer = _judge(exchange, frame)
            if answer.error_code:
                return
            bare = isinstance(exchange, ScramExchange) and b"v=" not in answer.auth_bytes
            peer.send(raw(bytes(answer.auth_bytes)))
            continue
        header, at = read_request_header(frame)
        key, version, number = header.request_api_key, header.request_api_version, header.correlation_id
        if key == SASL_HANDSHAKE.key:
            asked = decode(SaslHandshakeRequest, version, frame[at:])
            exchange, bare = _exchange(asked.mechanism), version == 0
            answer_ = SaslHandshakeResponse(error_code=0, mechanisms=[asked.mechanism])
            peer.send(response_frame(answer_, version, number))
        elif key == SASL_AUTHENTICATE.key:
            shown = decode(SaslAuthenticateRequest, version, frame[at:])
            peer.send(response_frame(_judge(exchange, bytes(shown.auth_bytes)), version, number))
        else:
            peer.send(peer.answer(frame))


def _exchange(mechanism: str) -> Any:
    if mechanism == "PLAIN":
        return PlainExchange(lambda: KNOWN)
    return ScramExchange(lambda: KNOWN, mechanism, False) if mechanism.startswith("SCRAM") else Anybody()


def _judge(exchange: Any, data: bytes) -> SaslAuthenticateResponse:
    outcome = step(exchange, data) if exchange is not None else None
    if isinstance(outcome, Accepted | Challenge):
        return SaslAuthenticateResponse(error_code=0, error_message=None, auth_bytes=outcome.token)
    return SaslAuthenticateResponse(error_code=58, error_message="no", auth_bytes=b"")
