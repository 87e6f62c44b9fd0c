"""No token of a client reaches a broker to which the proxy has logged in itself."""

from __future__ import annotations

from plugins.sasl_absent import SaslAbsent
from proxy.core.commands import Emit, ToBroker, ToClient
from proxy.core.events import Refused
from proxy.core.filters import Filters
from proxy.core.link import Link
from proxy.protocol.header import request_frame, response_frame
from proxy.protocol.messages.heartbeat import HeartbeatRequest
from proxy.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from proxy.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from proxy.protocol.schema import Request, Response
from proxy.testing import build, connection, from_client

ILLEGAL = 34
NO_HANDSHAKE = SaslHandshakeResponse(error_code=ILLEGAL, mechanisms=[])
NO_TOKEN = SaslAuthenticateResponse(
    error_code=ILLEGAL,
    error_message="SaslAuthenticate request received after successful authentication",
    auth_bytes=b"",
)


def _link() -> Link:
    return Link(connection(), Filters([build(SaslAbsent)]))


def _answered(link: Link, request: Request, version: int, answer: Response) -> bool:
    """Whether the proxy gives this answer, tells of a refusal, and sends nothing to the broker."""
    told = from_client(link, request_frame(request, version, 7, "app"))
    emitted = [command.event for command in told if isinstance(command, Emit)]
    assert emitted == [Refused("unknown", "the listener has no SASL")]
    assert not any(isinstance(command, ToBroker) for command in told)
    said = b"".join(bytes(command.data) for command in told if isinstance(command, ToClient))
    return said == response_frame(answer, version, 7)


def test_every_version_of_a_handshake_and_of_a_token_is_answered_as_by_a_listener_without_sasl() -> None:
    link = _link()
    for version in SaslHandshakeRequest.api.versions:
        assert _answered(link, SaslHandshakeRequest(mechanism="PLAIN"), version, NO_HANDSHAKE)
    for version in SaslAuthenticateRequest.api.versions:
        assert _answered(link, SaslAuthenticateRequest(auth_bytes=b"\0doorkeeper\0guess"), version, NO_TOKEN)


def test_other_requests_pass_as_before() -> None:
    link, frame = _link(), request_frame(HeartbeatRequest(group_id="g", generation_id=1, member_id="m"), 4, 1, "app")
    assert _answered(link, SaslHandshakeRequest(mechanism="PLAIN"), 0, NO_HANDSHAKE)
    assert from_client(link, frame) == [ToBroker(frame)]
