"""A broker that requires authentication and issues delegation tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import trio

from proxy.auth.passwords import PlainExchange, ScramExchange
from proxy.auth.verifiers import Verifier
from proxy.core.sasl.authority import Accepted, Challenge, Exchange
from proxy.protocol import decode_request
from proxy.protocol.api import (
    ALTER_USER_SCRAM_CREDENTIALS,
    API_VERSIONS,
    APIS,
    CREATE_DELEGATION_TOKEN,
    INCREMENTAL_ALTER_CONFIGS,
    METADATA,
    RENEW_DELEGATION_TOKEN,
    SASL_AUTHENTICATE,
    SASL_HANDSHAKE,
)
from proxy.protocol.errors import ErrorCode
from proxy.protocol.frame import SIZE
from proxy.protocol.header import read_request_header, response_frame
from proxy.protocol.messages.api_versions import ApiVersionsResponse
from proxy.protocol.messages.create_delegation_token import CreateDelegationTokenResponse
from proxy.protocol.messages.metadata import MetadataResponse
from proxy.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from proxy.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from proxy.protocol.schema import Message, Response
from tests.proxy.auth.stepping import step
from tests.proxy.net.scripted import LOOPBACK, read_frame

SPOKEN = (
    API_VERSIONS,
    METADATA,
    SASL_HANDSHAKE,
    SASL_AUTHENTICATE,
    CREATE_DELEGATION_TOKEN,
    RENEW_DELEGATION_TOKEN,
    INCREMENTAL_ALTER_CONFIGS,
    ALTER_USER_SCRAM_CREDENTIALS,
)
Known = Mapping[str, Mapping[str, Verifier]]


class Trusting:
    """Accepts any token without verifying it."""

    def step(self, token: bytes) -> Accepted:
        return Accepted("anybody", b"")


class SecretBroker:
    """Knows some users, and accepts any bearer token."""

    def __init__(self, users: Known, hmac: bytes) -> None:
        self._users, self._hmac = users, hmac
        self.port = 0
        self.knew: list[str] = []  # users that logged in

    async def serve(self, task_status: trio.TaskStatus[list[trio.SocketListener]] = trio.TASK_STATUS_IGNORED) -> None:
        listeners = await trio.open_tcp_listeners(0, host=LOOPBACK)
        self.port = listeners[0].socket.getsockname()[1]
        await trio.serve_listeners(self._converse, listeners, task_status=task_status)

    async def _converse(self, stream: trio.SocketStream) -> None:
        exchange: Exchange = Trusting()
        headless = False
        try:
            while frame := await read_frame(stream):
                if headless:
                    answer = self._step(exchange, frame)
                    headless = answer.error_code == 0 and bool(answer.auth_bytes)
                    if answer.error_code:
                        return
                    await stream.send_all(SIZE.pack(len(answer.auth_bytes)) + answer.auth_bytes)
                    continue
                header, body = read_request_header(frame)
                api, version = APIS[header.request_api_key], header.request_api_version
                request = decode_request(api.key, version, frame[body:])
                if isinstance(request, SaslHandshakeRequest):
                    exchange, headless = self._exchange(request.mechanism), version == 0
                await stream.send_all(response_frame(self._answer(request, exchange), version, header.correlation_id))
        except trio.BrokenResourceError:
            pass
        finally:
            await trio.aclose_forcefully(stream)

    def _exchange(self, mechanism: str) -> Exchange:
        if mechanism == "PLAIN":
            return PlainExchange(lambda: self._users)
        if mechanism.startswith("SCRAM"):
            return ScramExchange(lambda: self._users, mechanism, False)
        return Trusting()

    def _step(self, exchange: Exchange, token: bytes) -> SaslAuthenticateResponse:
        outcome = step(exchange, token)
        if isinstance(outcome, Accepted | Challenge):
            if isinstance(outcome, Accepted):
                self.knew.append(outcome.user)
            return SaslAuthenticateResponse(error_code=0, error_message=None, auth_bytes=outcome.token)
        refused = ErrorCode.SASL_AUTHENTICATION_FAILED
        return SaslAuthenticateResponse(error_code=refused, error_message=outcome.message, auth_bytes=b"")

    def _answer(self, request: Message, exchange: Exchange) -> Response:
        if isinstance(request, SaslHandshakeRequest):
            return SaslHandshakeResponse(error_code=0, mechanisms=[request.mechanism])
        if isinstance(request, SaslAuthenticateRequest):
            return self._step(exchange, bytes(request.auth_bytes))
        assert request.api is not None
        answers: dict[int, Callable[[], Response]] = {
            API_VERSIONS.key: self._versions,
            METADATA.key: self._metadata,
            CREATE_DELEGATION_TOKEN.key: self._token,
        }
        return answers[request.api.key]()

    def _versions(self) -> Response:
        spoken = [
            ApiVersionsResponse.ApiVersion(api_key=api.key, min_version=0, max_version=api.newest) for api in SPOKEN
        ]
        return ApiVersionsResponse(error_code=0, api_keys=spoken)

    def _metadata(self) -> Response:
        return MetadataResponse(brokers=[MetadataResponse.Broker(node_id=1, host=LOOPBACK, port=self.port)], topics=[])

    def _token(self) -> Response:
        return CreateDelegationTokenResponse(
            error_code=0,
            principal_type="User",
            principal_name="alice",
            issue_timestamp_ms=0,
            expiry_timestamp_ms=1,
            max_timestamp_ms=2,
            token_id="an-id",
            hmac=self._hmac,
            throttle_time_ms=0,
        )
