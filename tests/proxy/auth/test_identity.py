"""The client side of SASL that the proxy speaks to brokers, against its own server side."""

from __future__ import annotations

from typing import Any

import pytest

from proxy.auth.identity import Identities, Password, keep_up, log_in, log_in_later
from proxy.auth.passwords import PlainExchange, ScramExchange
from proxy.auth.speakers import LoginError
from proxy.auth.verifiers import verifiers
from proxy.core.commands import Close, PauseClient, ResumeClient, ToBroker, ToClient, Wake
from proxy.core.context import Connection, Context
from proxy.core.decisions import Ask, Call, Steps
from proxy.core.decorators import on_request
from proxy.core.plugin import Plugin
from proxy.core.sasl.authority import Accepted, Challenge, Exchange
from proxy.protocol.api import SASL_AUTHENTICATE
from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.heartbeat import HeartbeatRequest
from proxy.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from proxy.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from proxy.testing import FromBroker, FromClient, Playbook, Time
from tests.plugins import sasl
from tests.proxy.auth.stepping import step
from tests.proxy.core.frames import asking, heartbeat, heartbeat_answer
from tests.proxy.core.test_gate import held_up

USERS = {"doorkeeper": verifiers("dk-secret")}
VERSIONS = {SASL_AUTHENTICATE.key: (0, 2)}
PLAIN = Password("PLAIN", "doorkeeper", "dk-secret")
TOKEN = b"\0doorkeeper\0dk-secret"


def broker(identity: Password, lifetime: int = 0, agreed: int = 0) -> float | None:
    """What comes of a login at a broker that knows one user."""
    server: Exchange = PlainExchange(lambda: USERS)
    if identity.mechanism != "PLAIN":
        server = ScramExchange(lambda: USERS, identity.mechanism, False)
    steps = log_in(identity, VERSIONS)
    next(steps)
    answer: Any = SaslHandshakeResponse(error_code=agreed, mechanisms=["PLAIN"])
    try:
        while True:
            question = steps.send(answer)
            if isinstance(question, Call):
                assert question.apart, "it would have others wait"
                answer = question.work()
                continue
            assert isinstance(question, Ask)
            assert isinstance(question.request, SaslAuthenticateRequest)
            outcome = step(server, bytes(question.request.auth_bytes))
            answer = SaslAuthenticateResponse(error_code=0, error_message="", auth_bytes=b"")
            if isinstance(outcome, Accepted | Challenge):
                answer.auth_bytes = outcome.token
                answer.session_lifetime_ms = lifetime if isinstance(outcome, Accepted) else 0
            else:
                answer.error_code, answer.error_message = ErrorCode.SASL_AUTHENTICATION_FAILED, outcome.message
    except StopIteration as done:
        result: float | None = done.value
        return result


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_a_broker_that_knows_us_takes_our_word(mechanism: str) -> None:
    assert broker(Password(mechanism, "doorkeeper", "dk-secret")) is None
    assert broker(Password(mechanism, "doorkeeper", "dk-secret"), 2500) == 2.5


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_a_broker_that_does_not_says_why(mechanism: str) -> None:
    with pytest.raises(LoginError, match="refused our credentials: SASL_AUTHENTICATION_FAILED") as raised:
        broker(Password(mechanism, "doorkeeper", "wrong-secret"))
    assert "wrong-secret" not in str(raised.value)


def test_a_mechanism_that_the_broker_does_not_speak_is_said() -> None:
    with pytest.raises(LoginError, match='does not speak PLAIN, but "PLAIN'):
        broker(PLAIN, agreed=ErrorCode.UNSUPPORTED_SASL_MECHANISM)
    with pytest.raises(LoginError, match="refused SASL: ILLEGAL_SASL_STATE"):
        broker(PLAIN, agreed=ErrorCode.ILLEGAL_SASL_STATE)


def test_nothing_secret_is_shown() -> None:
    assert "dk-secret" not in repr(PLAIN)


def test_who_we_are_may_depend_on_the_client() -> None:
    alice = Password("PLAIN", "a", "x")
    identities = Identities(PLAIN, {"User:alice": alice})
    assert identities.by_client
    assert identities.of("User:alice") is alice
    assert identities.of("User:bob") is identities.of(None) is PLAIN
    with pytest.raises(LoginError, match="would not know us: no identity for User:bob"):
        Identities(None, {"User:alice": alice}).of("User:bob")


class KeepingUp(Plugin):
    present: Identities | None = None

    def connected(self, connection: Connection) -> Steps:
        return keep_up(connection, PLAIN, VERSIONS, 2.0, lambda: self.present)


class Later(Plugin):
    def connected(self, connection: Connection) -> Steps:
        connection.broker_versions = VERSIONS
        return log_in_later(Identities(PLAIN, {}), lambda: None, connection, "User:alice")


def handshake() -> bytes:
    return asking(SaslHandshakeRequest(mechanism="PLAIN"), 0, 1, None)


def token() -> bytes:
    return asking(SaslAuthenticateRequest(auth_bytes=TOKEN), 0, 2, None)


def test_a_session_with_a_broker_is_renewed_before_it_ends_while_requests_wait() -> None:
    assert (
        Playbook(KeepingUp(), byte_by_byte=False)
        >> FromClient(heartbeat(1))
        << ToBroker(heartbeat(1))
        >> Time()
        << ToBroker(handshake())
        >> FromClient(heartbeat(2))
        << PauseClient()
        >> FromBroker(heartbeat_answer(1) + sasl.agreed(0))
        << ToBroker(token())
        << ToClient(heartbeat_answer(1))
        >> FromBroker(sasl.yes(0, lifetime=4000))
        << ToBroker(heartbeat(2))
        << Wake(0, 2.8)
        << ResumeClient()
    )


class Renewed(KeepingUp):
    present = Identities(Password("PLAIN", "doorkeeper", "new-secret"), {})


class Another(KeepingUp):
    present = Identities(Password("PLAIN", "another", "new-secret"), {})


class Nobody(KeepingUp):
    present = Identities(None, {"User:alice": PLAIN})


@pytest.mark.parametrize(
    ("plugin", "password"), [(Renewed, b"new-secret"), (Another, b"dk-secret"), (Nobody, b"dk-secret")]
)
def test_a_session_is_renewed_with_the_password_of_now_as_long_as_we_are_the_same(
    plugin: type[KeepingUp], password: bytes
) -> None:
    assert (
        Playbook(plugin(), byte_by_byte=False)
        >> Time()
        << ToBroker(handshake())
        >> FromBroker(sasl.agreed(0))
        << ToBroker(asking(SaslAuthenticateRequest(auth_bytes=b"\0doorkeeper\0" + password), 0, 2, None))
    )


class Opening(Plugin):
    @on_request(HeartbeatRequest)
    def beat(self, ctx: Context, request: HeartbeatRequest) -> None:
        ctx.connection.gate.open()


def test_nothing_gets_in_between_the_steps_of_a_renewal() -> None:
    """The request that was under way when it began may be one that opens the gate: the client's own renewal."""
    begun, rest = heartbeat(1)[:14], heartbeat(1)[14:]
    assert (
        Playbook(KeepingUp(), Opening(), byte_by_byte=False)
        >> FromClient(begun)
        >> Time()
        >> FromClient(rest)
        << ToBroker(heartbeat(1) + asking(SaslHandshakeRequest(mechanism="PLAIN"), 0, 1))
        >> FromClient(heartbeat(2))
        << PauseClient()
        >> FromBroker(heartbeat_answer(1) + sasl.agreed(0))
        << ToBroker(asking(SaslAuthenticateRequest(auth_bytes=TOKEN), 0, 2))
        << ToClient(heartbeat_answer(1))
        >> FromBroker(sasl.yes(0, lifetime=4000))
        << ToBroker(heartbeat(2))
        << Wake(0, 2.8)
        << ResumeClient()
    )


def test_a_request_whose_handlers_take_their_time_does_not_get_in_between_either() -> None:
    assert (
        held_up(KeepingUp())
        << ToBroker(asking(SaslHandshakeRequest(mechanism="PLAIN"), 0, 1))
        << ResumeClient()
        >> FromBroker(heartbeat_answer(1) + sasl.agreed(0))
        << ToBroker(asking(SaslAuthenticateRequest(auth_bytes=TOKEN), 0, 2))
        << ToClient(heartbeat_answer(1))
    )


def test_a_session_is_not_renewed_sooner_than_brokers_allow() -> None:
    assert (
        Playbook(KeepingUp(), byte_by_byte=False)
        >> Time()
        << ToBroker(handshake())
        >> FromBroker(sasl.agreed(0))
        << ToBroker(token())
        >> FromBroker(sasl.yes(0, lifetime=500))
        << Wake(0, 1.1)
    )


def test_a_broker_that_knows_us_no_more_ends_the_conversation() -> None:
    assert (
        Playbook(KeepingUp(), byte_by_byte=False)
        >> Time()
        << ToBroker(handshake())
        >> FromBroker(sasl.agreed(0))
        << ToBroker(token())
        >> FromBroker(sasl.no(0, "Cannot change principals"))
        << Close("the broker refused our credentials: SASL_AUTHENTICATION_FAILED")
    )


def test_a_login_may_come_late() -> None:
    assert (
        Playbook(Later(), byte_by_byte=False)
        >> FromBroker(sasl.agreed(0))
        << ToBroker(handshake())
        << ToBroker(token())
        >> FromBroker(sasl.yes(0, lifetime=4000))
        << Wake(0, 2.8)
    )
