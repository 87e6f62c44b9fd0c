"""SASL that the proxy terminates: every order of messages, and the client's responses."""

from __future__ import annotations

from functools import partial

import pytest
from scramp import ScramClient

from plugins.api_versions import ApiVersions
from plugins.sasl_terminated import SaslTerminated
from plugins.sasl_terminated.authenticator import LogIn
from proxy.auth.authority import Failures, ListenerAuthority
from proxy.auth.identity import Identities, Password, log_in_later
from proxy.auth.passwords import BAD, PlainExchange, ScramExchange
from proxy.auth.tokens import BearerExchange, TokenValidator
from proxy.auth.verifiers import verifiers
from proxy.core.commands import (
    Await,
    Close,
    Command,
    Emit,
    PauseClient,
    Perform,
    ResumeClient,
    ToBroker,
    ToClient,
    Wake,
)
from proxy.core.context import Connection
from proxy.core.events import Refused
from proxy.core.filters import Filters
from proxy.core.limits import Limits
from proxy.core.link import Link
from proxy.core.sasl.authority import TABLE, SaslAction, SaslInput, SaslState
from proxy.protocol.api import API_VERSIONS, HEARTBEAT, SASL_AUTHENTICATE
from proxy.protocol.codec import decode
from proxy.protocol.errors import ErrorCode
from proxy.protocol.frame import SIZE
from proxy.protocol.header import read_response_header
from proxy.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from proxy.protocol.messages.heartbeat import HeartbeatResponse
from proxy.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from proxy.protocol.messages.sasl_handshake import SaslHandshakeRequest
from proxy.testing import (
    ANY,
    FakeClock,
    FakeWorker,
    FromBroker,
    FromClient,
    Playbook,
    Time,
    build,
    connection,
    from_broker,
    from_client,
)
from proxy.testing.lending import performed, with_turns
from tests.plugins.sasl import PLAIN_ALICE, agreed, authenticate, handshake, known, no, raw, yes
from tests.proxy.core.frames import answering, asking, heartbeat, heartbeat_answer, metadata
from tests.proxy.core.sasl.test_observed import ODD

USERS = {"alice": verifiers("alice-secret"), "bob": verifiers("bob-secret")}
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
WRONG = b"\0alice\0wrong"


def refused(user: str | None) -> Emit:
    return Emit(Refused("PLAIN", "unknown user or wrong password", user and f"User:{user}"))


def authority(session: float | None = None, patience: float = 30.0) -> ListenerAuthority:
    ways = {
        "PLAIN": lambda again: PlainExchange(lambda: USERS),
        "SCRAM-SHA-256": lambda again: ScramExchange(lambda: USERS, "SCRAM-SHA-256", again),
        "SCRAM-SHA-512": lambda again: ScramExchange(lambda: USERS, "SCRAM-SHA-512", again),
        "OAUTHBEARER": lambda again: BearerExchange(TokenValidator(None)),
    }
    return ListenerAuthority(ways, session, patience, Failures(lambda: 0.0))  # type: ignore[arg-type]


class Terminated(SaslTerminated):
    """With a new authority each time a playbook is played: failures are counted."""

    def __init__(self, session: float | None = None, log_in: LogIn | None = None) -> None:
        options = SaslTerminated.Options(authority=authority(session), log_in=log_in)
        super().__init__(options, FakeWorker().services())

    def connected(self, connection: Connection):  # type: ignore[no-untyped-def]
        new = authority(self.options.authority.session)
        SaslTerminated.__init__(self, self.options.model_copy(update={"authority": new}), self.services)
        return super().connected(connection)


def offered(number: int, error: int = 0, version: int = 1) -> bytes:
    return agreed(number, error, version, MECHANISMS)


def authenticated(session: float | None = None) -> Playbook:
    """Alice is there."""
    book = (
        Playbook(Terminated(session)) >> FromClient(handshake(1)) << ToClient(offered(1)) >> FromClient(authenticate(2))
    )
    lifetime = int((session or 0) * 1000)
    book = book << ToClient(yes(2, lifetime=lifetime)) << PauseClient() << known("PLAIN", "User:alice")
    return (book << Wake(0, session) if session else book) << ResumeClient()


def test_who_has_the_right_password_may_pass() -> None:
    book = (
        authenticated()
        >> FromClient(heartbeat(3))
        << ToBroker(heartbeat(3))
        >> FromBroker(heartbeat_answer(3))
        << ToClient(heartbeat_answer(3))
    )
    assert book
    assert book.connection.taken_for == "", "nobody told the broker who the client is"


@pytest.mark.parametrize(("token", "user"), [(WRONG, "alice"), (b"\0nobody\0alice-secret", None)])
def test_a_wrong_password_and_an_unknown_user_look_the_same(token: bytes, user: str | None) -> None:
    book = (
        Playbook(Terminated(), byte_by_byte=False)
        >> FromClient(handshake(1) + authenticate(2, token))
        << ToClient(offered(1))
        << PauseClient()
        << refused(user)
        << Wake(0, 0.1)
        >> Time()
        << ToClient(no(2, BAD))
        << Close("authentication failed")
    )
    assert book
    assert book.connection.principal is None
    assert book.counters.failed_authentications == 1


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
@pytest.mark.parametrize("bare", [False, True])
def test_scram_shows_the_password_to_nobody(mechanism: str, bare: bool) -> None:
    one = connection()
    link = Link(one, Filters([Terminated()]), Limits())
    link.begin()
    client = ScramClient([mechanism], "alice", "alice-secret")
    receive(link, handshake(1, mechanism, 0 if bare else 1))

    def exchange(number: int, message: str) -> str:
        data = receive(link, raw(message.encode()) if bare else authenticate(number, message.encode()))
        return (data[SIZE.size :] if bare else bytes(said(data).auth_bytes)).decode()

    client.set_server_first(exchange(2, client.get_client_first()))
    client.set_server_final(exchange(3, client.get_client_final()))
    assert one.principal == "User:alice"
    assert one.mechanism == mechanism
    (command,) = from_client(link, bytearray(heartbeat(4)))
    assert command == ToBroker(heartbeat(4))


def receive(link: Link, data: bytes) -> bytes:
    commands = performed(link, from_client(link, bytearray(data)))
    return b"".join(bytes(command.data) for command in commands if isinstance(command, ToClient))


def said(frame: bytes) -> SaslAuthenticateResponse:
    _, body = read_response_header(SaslAuthenticateResponse.api, 2, frame[SIZE.size :])
    return decode(SaslAuthenticateResponse, 2, frame[SIZE.size + body :])


def test_a_mechanism_that_is_not_offered_is_answered_with_those_that_are() -> None:
    assert (
        Playbook(Terminated())
        >> FromClient(handshake(1, "GSSAPI"))
        << Emit(Refused("unknown", "a mechanism that is not offered here"))
        << Wake(0, 0.1)
        << PauseClient()
        >> Time()
        << ToClient(offered(1, ErrorCode.UNSUPPORTED_SASL_MECHANISM))
        << Close(ANY)
    )


def test_bare_tokens_follow_handshake_v0() -> None:
    assert (
        Playbook(Terminated())
        >> FromClient(handshake(1, version=0))
        << ToClient(offered(1, version=0))
        >> FromClient(raw(b"\0alice\0alice-secret"))
        << ToClient(raw(b""))
        << PauseClient()
        << known("PLAIN", "User:alice")
        << ResumeClient()
        >> FromClient(heartbeat(2))
        << ToBroker(heartbeat(2))
        >> FromBroker(heartbeat_answer(2))
        << ToClient(heartbeat_answer(2))
    )


@pytest.mark.parametrize("request_", [authenticate(2), handshake(2), handshake(2, version=0)])
def test_after_handshake_v0_no_request_passes_for_a_token_even_if_it_came_with_the_handshake(request_: bytes) -> None:
    """A handshake takes steps, and what came with it waits: it is met as a request, and not as a token."""
    assert (
        Playbook(Terminated(), byte_by_byte=False)
        >> FromClient(handshake(1, version=0) + request_)
        << ToClient(offered(1, version=0))
        << PauseClient()
        << Close("a request came where a token without a header was due (SaslHandshake v0)")
    )


def test_a_bare_token_that_is_wrong_is_answered_by_silence() -> None:
    assert (
        Playbook(Terminated())
        >> FromClient(handshake(1, version=0))
        << ToClient(offered(1, version=0))
        >> FromClient(raw(WRONG))
        << PauseClient()
        << refused("alice")
        << Wake(0, 0.1)
        >> Time()
        << Close("authentication failed")
    )


class LoggingIn(Terminated):
    """Tells the broker for whom it speaks."""

    def __init__(self) -> None:
        identities = Identities(None, {"User:alice": Password("PLAIN", "dk", "dk-secret")})
        super().__init__(log_in=partial(log_in_later, identities, lambda: None))

    def connected(self, connection: Connection):  # type: ignore[no-untyped-def]
        connection.broker_versions = {SASL_AUTHENTICATE.key: (0, 2)}
        return super().connected(connection)


OURS = asking(SaslHandshakeRequest(mechanism="PLAIN"), 0, 1, "app")
OUR_TOKEN = asking(SaslAuthenticateRequest(auth_bytes=b"\0dk\0dk-secret"), 0, 2, "app")


def test_the_broker_is_told_for_whom_we_speak_before_the_client_may_go_on() -> None:
    book = (
        Playbook(LoggingIn(), byte_by_byte=False)
        >> FromClient(handshake(1) + authenticate(2) + heartbeat(3))
        << ToBroker(OURS)
        << ToClient(offered(1))
        << PauseClient()
        >> FromBroker(agreed(0))
        << ToBroker(OUR_TOKEN)
        >> FromBroker(yes(0))
        << ToBroker(heartbeat(3))
        << ToClient(yes(2))
        << known("PLAIN", "User:alice")
        << ResumeClient()
    )
    assert book
    assert book.connection.taken_for == "User:dk"


def test_so_it_is_after_bare_tokens() -> None:
    assert (
        Playbook(LoggingIn())
        >> FromClient(handshake(1, version=0))
        << ToClient(offered(1, version=0))
        >> FromClient(raw(b"\0alice\0alice-secret"))
        << ToBroker(OURS)
        << PauseClient()
        >> FromBroker(agreed(0))
        << ToBroker(OUR_TOKEN)
        >> FromBroker(yes(0))
        << ToClient(raw(b""))
        << known("PLAIN", "User:alice")
        << ResumeClient()
        >> FromClient(heartbeat(2))
        << ToBroker(heartbeat(2))
    )


def test_whom_the_broker_does_not_take_us_for_does_not_come_in() -> None:
    assert (
        Playbook(LoggingIn(), byte_by_byte=False)
        >> FromClient(handshake(1) + authenticate(2))
        << ToBroker(OURS)
        << ToClient(offered(1))
        << PauseClient()
        >> FromBroker(agreed(0))
        << ToBroker(OUR_TOKEN)
        >> FromBroker(no(0, "Invalid username or password"))
        << Close("the broker refused our credentials: SASL_AUTHENTICATION_FAILED")
    )


def test_a_broker_that_does_not_take_us_for_a_client_in_time_is_named() -> None:
    assert (
        Playbook(LoggingIn(), byte_by_byte=False)
        >> FromClient(handshake(1) + authenticate(2))
        << ToBroker(OURS)
        << ToClient(offered(1))
        << PauseClient()
        >> Time(0)
        << Close("the broker did not authenticate us for it within 30 s (limits.first_frame)")
    )


def test_nobody_to_speak_for_a_client_is_an_end() -> None:
    assert (
        Playbook(LoggingIn(), byte_by_byte=False)
        >> FromClient(handshake(1) + authenticate(2, b"\0bob\0bob-secret"))
        << ToClient(offered(1))
        << PauseClient()
        << Close("the broker would not know us: no identity for User:bob")
    )


# Every state and everything that may come.

VERSIONS = asking(ApiVersionsRequest(client_software_name="a", client_software_version="1"), 8, 3)
SENT = {
    SaslInput.VERSIONS: VERSIONS,
    SaslInput.HANDSHAKE: handshake(8),
    SaslInput.TOKEN: authenticate(8),
    SaslInput.OTHER: heartbeat(8),
}
UNSIGNED = ApiVersionsResponse(
    error_code=0, api_keys=[ApiVersionsResponse.ApiVersion(api_key=API_VERSIONS.key, min_version=0, max_version=3)]
)


def reached(state: SaslState) -> Link:
    """A link whose client is as far as this."""
    session = None if state is SaslState.DONE else 5.0
    link = Link(connection(), Filters([Terminated(session), build(ApiVersions)]), Limits())
    link.begin()
    path: dict[SaslState, list[bytes]] = {
        SaslState.FRESH: [],
        SaslState.ASKED: [VERSIONS],
        SaslState.AGREED: [handshake(1)],
        SaslState.DONE: [handshake(1), authenticate(2)],
        SaslState.LIMITED: [handshake(1), authenticate(2)],
        SaslState.AGAIN: [handshake(1), authenticate(2), handshake(3)],
        SaslState.OVER: [handshake(1), authenticate(2)],
    }
    wakes: list[Wake] = []
    for frame in path[state]:
        commands = performed(link, from_client(link, bytearray(frame)))
        wakes += [command for command in commands if isinstance(command, Wake)]
        if frame is VERSIONS:
            from_broker(link, bytearray(answering(UNSIGNED, 0, 3)))
    if state is SaslState.OVER:
        link.wake(wakes[-1].token)
    return link


def outcome(commands: list[Command]) -> SaslAction:
    """What was done, as the table calls it."""
    closed = any(isinstance(command, Close) for command in commands)
    if any(isinstance(command, ToBroker) for command in commands):
        return SaslAction.PASS
    answered = b"".join(bytes(command.data) for command in commands if isinstance(command, ToClient))
    illegal = ErrorCode.ILLEGAL_SASL_STATE.to_bytes(2, "big") in answered
    if closed:
        return SaslAction.ILLEGAL if illegal else SaslAction.CLOSE
    return SaslAction.REFUSE if illegal else SaslAction.AGREE if b"PLAIN" in answered else SaslAction.STEP


@pytest.mark.parametrize("comes", SENT)
@pytest.mark.parametrize("state", SaslState)
def test_the_table_is_what_happens(state: SaslState, comes: SaslInput) -> None:
    link = reached(state)
    commands = performed(link, from_client(link, bytearray(SENT[comes])))
    assert outcome(commands) is TABLE[state][comes]


def test_the_table_has_everything() -> None:
    assert all(row.keys() == set(SaslInput) for row in TABLE.values())
    assert TABLE.keys() == set(SaslState)


def test_what_is_refused_after_the_handshake_is_told_why() -> None:
    refusal = answering(HeartbeatResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE), 2)
    assert (
        Playbook(Terminated())
        >> FromClient(handshake(1))
        << ToClient(offered(1))
        >> FromClient(heartbeat(2))
        << ToClient(refusal)
        << PauseClient()
        << Close(ANY)
    )
    assert HEARTBEAT.key


def test_a_client_may_ask_for_the_versions_again_when_it_did_not_learn_them() -> None:
    link = Link(connection(), Filters([Terminated(), build(ApiVersions)]), Limits())
    link.begin()
    unknown = bytearray(VERSIONS)
    unknown[6:8] = (99).to_bytes(2, "big")
    answer = from_client(link, unknown)
    assert [type(command) for command in answer] == [ToClient]
    assert outcome(from_client(link, bytearray(VERSIONS))) is SaslAction.PASS


def test_our_versions_of_sasl_are_told_whatever_the_broker_speaks() -> None:
    link = Link(connection(), Filters([Terminated(), build(ApiVersions)]), Limits())
    link.begin()
    from_client(link, bytearray(VERSIONS))
    commands = from_broker(link, bytearray(answering(UNSIGNED, 0, 3)))
    (data,) = [bytes(command.data) for command in commands if isinstance(command, ToClient)]
    told = decode(ApiVersionsResponse, 3, data[8:])
    assert [(api.api_key, api.max_version) for api in told.api_keys] == [(17, 1), (18, 3), (36, 2)]


@pytest.mark.parametrize(("mechanism", "token"), [case[:2] for case in ODD])
def test_nobody_comes_in_with_an_odd_token(mechanism: str, token: bytes) -> None:
    link = Link(connection(), Filters([Terminated()]), Limits())
    link.begin()
    flight = handshake(1, mechanism) + authenticate(2, token) + authenticate(3, b"\x01")
    commands, _ = with_turns(link, performed(link, from_client(link, bytearray(flight))))
    told = [command.event for command in commands if isinstance(command, Emit)]
    assert [type(event) for event in told] == [Refused]


def test_a_request_that_came_with_its_token_is_served_with_it() -> None:
    """Nothing else may be needed to wake it: no timer, no further byte."""
    assert (
        Playbook(Terminated(), byte_by_byte=False)
        >> FromClient(handshake(1, version=0) + raw(PLAIN_ALICE) + heartbeat(2) + heartbeat(3))
        << ToBroker(heartbeat(2) + heartbeat(3))
        << ToClient(offered(1, version=0) + raw(b""))
        << PauseClient()
        << known("PLAIN", "User:alice")
        << ResumeClient()
    )


@pytest.mark.parametrize("first", [handshake(1) + authenticate(2), handshake(1, version=0) + raw(PLAIN_ALICE)])
def test_nothing_more_is_taken_while_a_password_is_checked(first: bytes) -> None:
    link = reached(SaslState.FRESH)
    commands = from_client(link, bytearray(first + heartbeat(3)))
    (call,) = [command for command in commands if isinstance(command, Perform)]
    assert PauseClient() in commands
    assert not any(isinstance(command, ToBroker) for command in commands)
    assert ToBroker(heartbeat(3)) in link.performed(call.token, call.work())


@pytest.mark.parametrize("first", [handshake(1) + authenticate(2), handshake(1, version=0) + raw(PLAIN_ALICE)])
def test_a_client_that_left_while_its_password_was_checked_does_not_come_in(first: bytes) -> None:
    link = reached(SaslState.FRESH)
    (call,) = [command for command in from_client(link, bytearray(first)) if isinstance(command, Perform)]
    link.broker_closed()
    assert not link.performed(call.token, call.work())
    assert link.connection.principal is None


# Time.


def test_whoever_takes_too_long_is_closed() -> None:
    assert Playbook(Terminated()) >> FromClient(handshake(1)) << ToClient(offered(1)) >> Time(0) << Close(ANY)
    assert authenticated() >> Time(0)


@pytest.mark.parametrize("first", [handshake(1) + authenticate(2), handshake(1, version=0) + raw(PLAIN_ALICE)])
def test_nobody_is_closed_because_the_proxy_takes_long_to_check_a_password(first: bytes) -> None:
    link = Link(connection(), Filters([Terminated()]), Limits())
    (patience,) = [command for command in link.begin() if isinstance(command, Wake)]
    (call,) = [command for command in from_client(link, bytearray(first)) if isinstance(command, Perform)]
    (wait,) = link.wake(patience.token)
    assert isinstance(wait, Await)
    link.performed(call.token, call.work())
    assert wait.signal.is_released
    assert link.wake(wait.token) == []
    assert link.connection.principal == "User:alice"


def test_time_in_which_a_password_was_checked_is_not_the_clients() -> None:
    clock = FakeClock()
    plugin = SaslTerminated(SaslTerminated.Options(authority=authority()), FakeWorker(clock=clock).services())
    link = Link(connection(), Filters([plugin]), Limits())
    (patience,) = [command for command in link.begin() if isinstance(command, Wake)]
    data = bytearray(handshake(1) + authenticate(2, WRONG))
    (call,) = [command for command in from_client(link, data) if isinstance(command, Perform)]
    clock.now += 40.0
    (wait,) = link.wake(patience.token)
    assert isinstance(wait, Await)
    delayed = link.performed(call.token, call.work())  # as every refusal is
    assert [type(command) for command in delayed] == [Emit, Wake]
    (more,) = link.wake(wait.token)
    assert more == Wake(more.token, 40.0)
    assert link.wake(more.token) == [Close("not authenticated within 30 s (limits.first_frame)")]


def test_a_session_that_is_over_takes_nothing_but_sasl() -> None:
    assert authenticated(5.0) >> Time() >> FromClient(heartbeat(3)) << PauseClient() << Close(ANY)


def test_a_session_that_is_renewed_goes_on() -> None:
    assert (
        authenticated(5.0)
        >> FromClient(heartbeat(3) + handshake(4))
        << ToBroker(heartbeat(3))
        << Wake(0, 1.0)
        >> FromBroker(heartbeat_answer(3))
        << ToClient(heartbeat_answer(3) + offered(4))
        >> FromClient(authenticate(5))
        << ToClient(yes(5, lifetime=5000))
        << PauseClient()
        << known("PLAIN", "User:alice", again=True)
        << Wake(0, 5.0)
        << ResumeClient()
        >> Time(1)
        >> FromClient(heartbeat(6))
        << ToBroker(heartbeat(6))
    )


def test_a_session_that_ends_while_it_is_renewed_is_renewed() -> None:
    assert (
        authenticated(5.0)
        >> FromClient(handshake(3))
        << Wake(0, 1.0)
        << ToClient(offered(3))
        >> Time(1)
        >> FromClient(authenticate(4))
        << ToClient(yes(4, lifetime=5000))
        << PauseClient()
        << known("PLAIN", "User:alice", again=True)
        << Wake(0, 5.0)
        << ResumeClient()
        >> FromClient(heartbeat(5))
        << ToBroker(heartbeat(5))
    )


def test_only_the_end_of_the_present_session_is_waited_for() -> None:
    link = reached(SaslState.FRESH)
    wakes: list[Wake] = []
    for number in range(0, 20, 2):
        for frame in (handshake(number), authenticate(number + 1)):
            commands = performed(link, from_client(link, bytearray(frame)))
            wakes += [command for command in commands if isinstance(command, Wake)]
        for rest in [wake for wake in wakes if wake.seconds == 1.0]:
            link.wake(rest.token)
    waited = [wake.unless for wake in wakes if wake.seconds == 5.0]
    assert len(waited) == 10
    assert [signal is not None and signal.is_released for signal in waited] == [True] * 9 + [False]
    wake, last = [wake for wake in wakes if wake.seconds == 5.0][-2:]
    link.wake(wake.token)
    assert outcome(from_client(link, bytearray(heartbeat(20)))) is SaslAction.PASS
    from_broker(link, bytearray(heartbeat_answer(20)))
    link.wake(last.token)
    assert outcome(from_client(link, bytearray(heartbeat(21)))) is SaslAction.CLOSE


def test_a_session_without_an_end_is_not_renewed() -> None:
    illegal = agreed(3, ErrorCode.ILLEGAL_SASL_STATE, mechanisms=())
    book = authenticated() >> FromClient(handshake(3)) << ToClient(illegal)
    assert book >> FromClient(heartbeat(4)) << ToBroker(heartbeat(4))


def test_a_session_is_not_renewed_twice_within_a_second() -> None:
    assert (
        authenticated(5.0)
        >> FromClient(handshake(4))
        << ToClient(offered(4))
        << Wake(0, 1.0)
        >> FromClient(authenticate(5))
        << ToClient(yes(5, lifetime=5000))
        << PauseClient()
        << known("PLAIN", "User:alice", again=True)
        << Wake(0, 5.0)
        << ResumeClient()
        >> FromClient(handshake(6))
        << ToClient(agreed(6, ErrorCode.ILLEGAL_SASL_STATE, mechanisms=()))
        >> Time(2)
        >> FromClient(handshake(7))
        << ToClient(offered(7))
        << Wake(0, 1.0)
    )


def test_nobody_becomes_somebody_else() -> None:
    message = "Cannot change principals during re-authentication from User.alice: User.bob"
    assert (
        authenticated(5.0)
        >> FromClient(handshake(4))
        << ToClient(offered(4))
        << Wake(0, 1.0)
        >> FromClient(authenticate(5, b"\0bob\0bob-secret"))
        << PauseClient()
        << Emit(Refused("PLAIN", "another principal on authentication again"))
        << Wake(0, 0.1)
        >> Time()
        << ToClient(no(5, message))
        << Close(ANY)
    )


def test_the_mechanism_stays_what_it_was() -> None:
    message = (
        "SASL mechanism 'SCRAM-SHA-256' requested by client is not supported for re-authentication of mechanism 'PLAIN'"
    )
    assert (
        authenticated(5.0)
        >> FromClient(handshake(4, "SCRAM-SHA-256"))
        << ToClient(offered(4))
        << Wake(0, 1.0)
        >> FromClient(authenticate(5, b"n,,n=alice,r=abc"))
        << Emit(Refused("PLAIN", "another mechanism on authentication again"))
        << Wake(0, 0.1)
        << PauseClient()
        >> Time()
        << ToClient(no(5, message))
        << Close(ANY)
    )


def test_before_authentication_frames_are_small() -> None:
    size = (600 << 10).to_bytes(4, "big")
    assert Playbook(Terminated()) >> FromClient(size) << PauseClient() << Close(ANY)
    assert authenticated() >> FromClient(size + metadata(3)[4:12]) << ToBroker(size + metadata(3)[4:12])
