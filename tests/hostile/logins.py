"""Logging in, and not quite logging in: SASL as hostile clients speak it."""

from __future__ import annotations

from typing import Any

from proxy.protocol.header import request_frame
from proxy.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from proxy.protocol.messages.sasl_handshake import SaslHandshakeRequest
from tests.hostile.client import Client


def handshake(mechanism: str = "PLAIN", version: int = 1, number: int = 1) -> bytes:
    """The client names a mechanism."""
    return request_frame(SaslHandshakeRequest(mechanism=mechanism), version, number, "hostile")


def token(data: bytes, version: int = 2, number: int = 2) -> bytes:
    """The client shows a token."""
    return request_frame(SaslAuthenticateRequest(auth_bytes=data), version, number, "hostile")


def agree(client: Client, mechanism: str = "PLAIN") -> None:
    """Name a mechanism, which is accepted."""
    answer = client.ask(SaslHandshakeRequest(mechanism=mechanism), 1)
    assert answer.error_code == 0, answer


def show(client: Client, data: bytes) -> Any:
    """Show a token; its answer, or None where the connection was closed instead."""
    try:
        return client.ask(SaslAuthenticateRequest(auth_bytes=data), 2, 2)
    except EOFError:
        return None


def plain(client: Client, user: str, password: str) -> bool:
    """Whether that is good enough."""
    agree(client)
    answer = show(client, f"\0{user}\0{password}".encode())
    return answer is not None and answer.error_code == 0
