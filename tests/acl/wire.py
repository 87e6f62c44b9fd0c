"""One connection to a cluster: one request at a time, as one principal."""

from __future__ import annotations

import socket
from typing import Any, cast

from proxy.protocol.api import API_VERSIONS, APIS
from proxy.protocol.codec import decode
from proxy.protocol.header import SIZE, read_response_header, request_frame
from proxy.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from proxy.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from proxy.protocol.messages.sasl_handshake import SaslHandshakeRequest
from proxy.protocol.schema import Request, Response
from tests.acl.nodes import HOST, PASSWORD

PATIENCE = 20.0  # seconds for a response


class Wire:
    """A connection from an address; with a user, it authenticates."""

    def __init__(self, port: int, user: str | None = None, source: str = HOST) -> None:
        self._socket = socket.create_connection((HOST, port), timeout=PATIENCE, source_address=(source, 0))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if user is not None:
            self._log_in(user)

    def _log_in(self, user: str) -> None:
        try:
            self.ask(SaslHandshakeRequest(mechanism="PLAIN"), 1)
            answer = self.ask(SaslAuthenticateRequest(auth_bytes=f"\0{user}\0{PASSWORD}".encode()), 2)
            assert cast(SaslAuthenticateResponse, answer).error_code == 0, answer
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, request: Request, version: int) -> None:
        """Send a request without waiting for its response."""
        self._socket.sendall(request_frame(request, version, 1, "test"))

    def ask(self, request: Request, version: int) -> Response:
        """Send a request and give its response. Raises EOFError where the connection was closed instead."""
        self.send(request, version)
        (size,) = SIZE.unpack(self._read(SIZE.size))
        frame = self._read(size)
        _, offset = read_response_header(request.api, version, frame)
        answer: Any = decode(request.api.response, version, frame[offset:])
        return cast(Response, answer)

    def is_silent(self) -> bool:
        """Did the last request get no response on a live connection? A second request must get the next response."""
        try:
            self.ask(ApiVersionsRequest(client_software_name="test", client_software_version="1"), 3)
        except EOFError:
            return False
        return True

    def spoken(self) -> dict[int, range]:
        """The advertised versions of all APIs."""
        request = ApiVersionsRequest(client_software_name="test", client_software_version="1")
        answer = cast(ApiVersionsResponse, self.ask(request, min(4, API_VERSIONS.newest)))
        return {
            each.api_key: range(each.min_version, each.max_version + 1)
            for each in answer.api_keys
            if each.api_key in APIS
        }

    def _read(self, size: int) -> bytes:
        read = b""
        while len(read) < size:
            try:
                more = self._socket.recv(size - len(read))
            except ConnectionResetError:
                more = b""
            if not more:
                raise EOFError("the connection was closed")
            read += more
        return read
