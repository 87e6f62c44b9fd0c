"""No client gets another's rights by odd credentials, in front of a broker that reads them as Kafka does.

The broker here accepts what Kafka's own does: the last of two `auth` fields, or another token after a refused one.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from plugins.sasl_inspected import SaslInspected
from proxy.core.events import Authenticated
from proxy.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from proxy.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from proxy.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from proxy.protocol.schema import Request, Response
from proxy.testing import build
from tests.plugins.acl.talk import Rules, Talk
from tests.plugins.sasl import bearer
from tests.proxy.core.sasl.odd import ADMIN, ALICE, token

Making = Callable[..., Rules]
RULES = "super_users: [User:admin]\nacls: [{allow: User:alice, to: Read, topics: mine}]"
INVALID = b'{"status":"invalid_token"}'
HERS = ALICE.encode()  # the one token here whose signature the broker finds right


def broker(request: Request, version: int) -> Response | None:
    """Kafka, as far as it matters."""
    if isinstance(request, SaslHandshakeRequest):
        return SaslHandshakeResponse(error_code=0, mechanisms=["OAUTHBEARER"])
    if isinstance(request, SaslAuthenticateRequest) and request.auth_bytes == b"\x01":
        return SaslAuthenticateResponse(error_code=58, error_message=INVALID.decode(), auth_bytes=b"")
    if isinstance(request, SaslAuthenticateRequest):
        said = bytes(request.auth_bytes).rpartition(b"auth=Bearer ")[2].split(b"\x01")[0]
        answer = b"" if said == HERS else INVALID
        return SaslAuthenticateResponse(error_code=0, error_message="", auth_bytes=answer)
    assert isinstance(request, DeleteTopicsRequest)
    return DeleteTopicsResponse(responses=[])


def come(rules: Rules, *tokens: bytes) -> Talk:
    """A client that comes with these, and deletes a topic."""
    talk = Talk(rules.acl, None, broker, build(SaslInspected))
    talk.connection.mechanism = None
    talk.ask(SaslHandshakeRequest(mechanism="OAUTHBEARER"), 1)
    for each in tokens:
        if talk.closed is None:
            talk.ask(SaslAuthenticateRequest(auth_bytes=each), 2)
    if talk.closed is None:
        talk.ask(DeleteTopicsRequest(topic_names=["theirs"], timeout_ms=1000), 5)
    return talk


def deleted(talk: Talk) -> bool:
    return any(isinstance(request, DeleteTopicsRequest) and request.topic_names for request in talk.to_broker)


@pytest.mark.parametrize(
    "tokens",
    [
        [bearer(ADMIN).replace(b"\x01\x01", b"\x01auth=Bearer " + HERS + b"\x01\x01")],
        [bearer(ADMIN), bearer(ALICE)],
        [bearer(ADMIN), b"\x01", bearer(ALICE)],
        [bearer(token(b'{"sub": "admin", "sub": "alice"}'))],
    ],
    ids=["two tokens at once", "two after each other", "two, the first given up", "two names"],
)
def test_a_client_with_a_token_of_its_own_becomes_no_super_user(rules: Making, tokens: list[bytes]) -> None:
    talk = come(rules(RULES), *tokens)
    assert talk.closed
    assert not [event for event in talk.events if isinstance(event, Authenticated)]
    assert talk.connection.principal is None
    assert not deleted(talk)


def test_a_client_is_who_its_token_says(rules: Making) -> None:
    talk = come(rules(RULES), bearer(ALICE))
    assert Authenticated("OAUTHBEARER", "User:alice") in talk.events
    assert talk.denied == [("Delete", "Topic", "theirs")]
    assert not deleted(talk)


def test_who_is_a_super_user_may_delete(rules: Making) -> None:
    talk = come(rules(RULES.replace("User:admin", "User:alice")), bearer(ALICE))
    assert deleted(talk)
