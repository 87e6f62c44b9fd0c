"""Credentials that Kafka and other parsers read differently: real brokers accept them, and the proxy refuses them."""

from __future__ import annotations

import socket
import time

import pytest

from proxy.protocol.codec import decode
from proxy.protocol.errors import ErrorCode
from proxy.protocol.frame import SIZE
from proxy.protocol.header import read_response_header
from proxy.protocol.messages.sasl_authenticate import SaslAuthenticateResponse
from tests.plugins.sasl import authenticate, bearer, handshake, jwt
from tests.real.secured.guarding import PLAIN, Guarding

pytestmark = pytest.mark.real

PATIENCE = 20.0  # seconds


def token(user: str) -> bytes:
    """An unsigned token, which these brokers accept; a token for the administrator is long expired."""
    now = time.time()
    return jwt(sub=user, iat=now - 9, exp=now + 900 if user == "alice" else now - 5000).encode()


HERS, FORGED = token("alice"), token("admin")
TOKENS = {
    "two tokens at once": [b"n,,\x01auth=Bearer %b\x01auth=Bearer %b\x01\x01" % (FORGED, HERS)],
    "two after each other": [bearer(FORGED.decode()), bearer(HERS.decode())],
}


def outcome(at: str, tokens: list[bytes]) -> tuple[int, bool]:
    """The last error that the client receives, and whether the connection is closed then."""
    host, _, port = at.partition(",")[0].rpartition(":")
    with socket.create_connection((host, int(port)), PATIENCE) as client, client.makefile("rb") as read:
        client.sendall(handshake(1, "OAUTHBEARER"))
        read.read(*SIZE.unpack(read.read(SIZE.size)))
        for number, each in enumerate(tokens, 2):
            client.sendall(authenticate(number, each))
            frame = read.read(*SIZE.unpack(read.read(SIZE.size)))
        _, body = read_response_header(SaslAuthenticateResponse.api, 2, frame)
        error = decode(SaslAuthenticateResponse, 2, frame[body:]).error_code
        if error:
            return error, read.read(1) == b""
        return error, False


@pytest.mark.parametrize("tokens", TOKENS.values(), ids=TOKENS)
def test_a_client_is_not_taken_for_another_than_its_broker_takes_it_for(
    guarding: Guarding, tokens: list[bytes]
) -> None:
    assert outcome(guarding.direct("inspected", PLAIN), tokens) == (ErrorCode.NONE, False)
    with guarding.tells('"listener": "inspected-plain"', '"mechanism": "OAUTHBEARER"', "authentication failed"):
        refused = outcome(guarding.at("inspected", PLAIN), tokens)
    assert refused == (ErrorCode.SASL_AUTHENTICATION_FAILED, True)
    assert not guarding.told('"listener": "inspected-plain"', '"principal": "User:admin"')
    assert outcome(guarding.at("inspected", PLAIN), [bearer(HERS.decode())]) == (ErrorCode.NONE, False)
