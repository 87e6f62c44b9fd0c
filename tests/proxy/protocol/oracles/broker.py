"""A real broker that denies everything to one user, and a client for requests that Kafka's own clients never send."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any, cast

from proxy.net.channel import exactly
from proxy.protocol.codec import decode
from proxy.protocol.header import SIZE, read_response_header, request_frame
from proxy.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from proxy.protocol.messages.sasl_handshake import SaslHandshakeRequest
from proxy.protocol.schema import Request, Response
from tests.acl.nodes import AUTHORIZER, HOST, PASSWORD, Node

PATIENCE = 20.0  # seconds for a response
DENIED = "eve"


class DenyingBroker(Node):
    """A broker that denies everything, except to clients of the trusted port. `denied` is the port of the user eve."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "denying", [DENIED], AUTHORIZER)
        self.denied = self.clients


class Client:
    """One connection, with one request at a time."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection((HOST, port), timeout=PATIENCE)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def log_in(self) -> None:
        self.ask(SaslHandshakeRequest(mechanism="PLAIN"), 1)
        answer = self.ask(SaslAuthenticateRequest(auth_bytes=f"\0{DENIED}\0{PASSWORD}".encode()), 2)
        assert cast(SaslAuthenticateResponse, answer).error_code == 0, answer

    def ask(self, request: Request, version: int) -> Response:
        """Send a request and give its response; EOFError where the broker closed instead."""
        self._socket.sendall(request_frame(request, version, 1, "test"))
        (size,) = SIZE.unpack(exactly(self._socket, SIZE.size))
        frame = exactly(self._socket, size)
        _, offset = read_response_header(request.api, version, frame)
        answer: Any = decode(request.api.response, version, frame[offset:])
        return cast(Response, answer)
