"""SASL that passes to the broker: what the proxy learns from it, in every order of messages."""

import base64
from collections.abc import Callable
from functools import partial

import pytest

from plugins.sasl_inspected import SaslInspected
from proxy.core.commands import Close, Command, Emit, PauseClient, ResumeClient, ToBroker, ToClient, Wake
from proxy.core.context import Connection
from proxy.core.decisions import Alone, Sleep, Steps
from proxy.core.events import Refused
from proxy.core.filters import Filters
from proxy.core.limits import Limits
from proxy.core.link import Link
from proxy.core.plugin import Plugin
from proxy.core.token_stream import LONGEST_TOKEN
from proxy.protocol.api import APIS
from proxy.protocol.errors import ErrorCode
from proxy.protocol.frame import SIZE
from proxy.testing import ANY, FromBroker, FromClient, Playbook, Time, build, connection, from_broker, from_client
from proxy.testing.lending import with_turns
from tests.plugins.sasl import (
    AP_REQ,
    SCRAM_FINAL,
    SCRAM_FIRST,
    WRAPPED,
    agreed,
    authenticate,
    bearer,
    handshake,
    jwt,
    known,
    no,
    raw,
    yes,
)
from tests.proxy.core.frames import heartbeat, heartbeat_answer
from tests.proxy.core.sasl.test_observed import ODD
from tests.proxy.core.test_gate import Beside, ours

SCRAM_512_FINAL = b"c=biws,r=abcdef,p=" + base64.b64encode(bytes(64))
AP_REP = b"\x60 of a server"


def greeting(mechanism: str, version: int = 1) -> Playbook:
    """A client that has agreed with its broker on a mechanism."""
    return (
        Playbook(build(SaslInspected))
        >> FromClient(handshake(1, mechanism, version))
        << ToBroker(handshake(1, mechanism, version))
        >> FromBroker(agreed(1, version=version))
        << ToClient(agreed(1, version=version))
    )


def not_taken(mechanism: str, claimed: str) -> Emit:
    return Emit(Refused(mechanism, "the broker did not take it", claimed))


@pytest.mark.parametrize("version", [0, 1, 2])
def test_who_came_with_plain_is_learnt_when_the_broker_says_yes(version: int) -> None:
    assert (
        greeting("PLAIN")
        >> FromClient(authenticate(2, version=version))
        << ToBroker(authenticate(2, version=version))
        >> FromBroker(yes(2, version=version))
        << ToClient(yes(2, version=version))
        << known("PLAIN", "User:alice")
        >> FromClient(heartbeat(3))
        << ToBroker(heartbeat(3))
    )


def test_nobody_is_learnt_when_the_broker_says_no() -> None:
    book = (
        greeting("PLAIN")
        >> FromClient(authenticate(2))
        << ToBroker(authenticate(2))
        >> FromBroker(no(2))
        << ToClient(no(2))
        << not_taken("PLAIN", "User:alice")
    )
    assert book
    assert book.connection.principal is None
    assert book.connection.mechanism is None


def test_scram_says_yes_with_its_signature_only() -> None:
    assert (
        greeting("SCRAM-SHA-256")
        >> FromClient(authenticate(2, b"n,,n=a=2Cb=3Dc,r=abc"))
        << ToBroker(authenticate(2, b"n,,n=a=2Cb=3Dc,r=abc"))
        >> FromBroker(yes(2, b"r=abcdef,s=c2FsdA==,i=4096"))
        << ToClient(yes(2, b"r=abcdef,s=c2FsdA==,i=4096"))
        >> FromClient(authenticate(3, SCRAM_FINAL))
        << ToBroker(authenticate(3, SCRAM_FINAL))
        >> FromBroker(yes(3, b"v=c2ln"))
        << ToClient(yes(3, b"v=c2ln"))
        << known("SCRAM-SHA-256", "User:a,b=c")
    )


def test_who_comes_with_a_delegation_token_is_known_to_the_broker_alone() -> None:
    book = (
        greeting("SCRAM-SHA-512")
        >> FromClient(authenticate(2, b"n,,n=token-7,r=abc,tokenauth=true"))
        << ToBroker(authenticate(2, b"n,,n=token-7,r=abc,tokenauth=true"))
        >> FromBroker(yes(2, b"r=abcdef,s=c2FsdA==,i=4096"))
        << ToClient(yes(2, b"r=abcdef,s=c2FsdA==,i=4096"))
        >> FromClient(authenticate(3, SCRAM_512_FINAL))
        << ToBroker(authenticate(3, SCRAM_512_FINAL))
        >> FromBroker(yes(3, b"v=c2ln"))
        << ToClient(yes(3, b"v=c2ln"))
        << known("SCRAM-SHA-512", None)
    )
    assert book
    assert book.connection.delegation == "token-7"


def test_the_subject_of_a_token_is_the_principal() -> None:
    token = bearer(jwt(sub="svc") + "sig")
    assert (
        greeting("OAUTHBEARER")
        >> FromClient(authenticate(2, token))
        << ToBroker(authenticate(2, token))
        >> FromBroker(yes(2))
        << ToClient(yes(2))
        << known("OAUTHBEARER", "User:svc")
    )


def test_a_refused_token_is_no_principal() -> None:
    token = bearer(jwt(sub="svc") + "sig")
    assert (
        greeting("OAUTHBEARER")
        >> FromClient(authenticate(2, token))
        << ToBroker(authenticate(2, token))
        >> FromBroker(yes(2, b'{"status":"invalid_token"}'))
        << ToClient(yes(2, b'{"status":"invalid_token"}'))
        >> FromClient(authenticate(3, b"\x01"))
        << ToBroker(authenticate(3, b"\x01"))
        >> FromBroker(no(3))
        << ToClient(no(3))
        << not_taken("OAUTHBEARER", "User:svc")
    )


def test_of_kerberos_only_that_it_succeeded_is_learnt_and_not_before_the_last_step() -> None:
    assert (
        greeting("GSSAPI")
        >> FromClient(authenticate(2, AP_REQ))
        << ToBroker(authenticate(2, AP_REQ))
        >> FromBroker(yes(2, AP_REP))
        << ToClient(yes(2, AP_REP))
        >> FromClient(authenticate(3, b""))
        << ToBroker(authenticate(3, b""))
        >> FromBroker(yes(3, WRAPPED))
        << ToClient(yes(3, WRAPPED))
        >> FromClient(authenticate(4, WRAPPED))
        << ToBroker(authenticate(4, WRAPPED))
        >> FromBroker(yes(4))
        << ToClient(yes(4))
        << known("GSSAPI", None)
        >> FromClient(heartbeat(5))
        << ToBroker(heartbeat(5))
    )


def test_of_another_mechanism_only_that_a_step_succeeded_is_learnt() -> None:
    assert (
        greeting("OF-ONES-OWN")
        >> FromClient(authenticate(2, b"me"))
        << ToBroker(authenticate(2, b"me"))
        >> FromBroker(yes(2, b"you"))
        << ToClient(yes(2, b"you"))
        << known("OF-ONES-OWN", None)
    )


def test_a_client_that_sends_ahead_waits_for_the_answer_that_its_claim_gets() -> None:
    """Otherwise the second claim would count by the yes to the first."""
    second = authenticate(4)
    assert (
        Playbook(build(SaslInspected), byte_by_byte=False)
        >> FromClient(handshake(1) + authenticate(2) + handshake(3) + second)
        << ToBroker(handshake(1))
        << PauseClient()
        >> FromBroker(agreed(1))
        << ToBroker(authenticate(2))
        << ToClient(agreed(1))
        >> FromBroker(yes(2))
        << ToBroker(handshake(3))
        << ToClient(yes(2))
        << known("PLAIN", "User:alice")
        >> FromBroker(agreed(3))
        << ToBroker(second)
        << ToClient(agreed(3))
        << ResumeClient()
        >> FromBroker(no(4))
        << ToClient(no(4))
        << not_taken("PLAIN", "User:alice")
    )


def test_a_session_is_followed_when_it_is_renewed() -> None:
    assert (
        greeting("PLAIN")
        >> FromClient(authenticate(2))
        << ToBroker(authenticate(2))
        >> FromBroker(yes(2, lifetime=2000))
        << ToClient(yes(2, lifetime=2000))
        << known("PLAIN", "User:alice")
        >> FromClient(heartbeat(3) + handshake(4))
        << ToBroker(heartbeat(3) + handshake(4))
        >> FromBroker(heartbeat_answer(3) + agreed(4))
        << ToClient(heartbeat_answer(3) + agreed(4))
        >> FromClient(authenticate(5))
        << ToBroker(authenticate(5))
        >> FromBroker(yes(5))
        << ToClient(yes(5))
        << known("PLAIN", "User:alice", again=True)
    )


@pytest.mark.parametrize("refused", [False, True])
def test_a_question_of_ours_waits_until_the_broker_has_decided_on_the_client(refused: bool) -> None:
    answer, told = (no(2), not_taken("PLAIN", "User:alice")) if refused else (yes(2), known("PLAIN", "User:alice"))
    assert (
        Playbook(build(SaslInspected), Beside(), byte_by_byte=False)
        >> FromClient(handshake(1))
        << ToBroker(handshake(1))
        >> Time()
        >> FromBroker(agreed(1))
        << ToClient(agreed(1))
        >> FromClient(authenticate(2))
        << ToBroker(authenticate(2))
        >> FromBroker(answer)
        << told
        << ToBroker(ours("app"))
        << ToClient(answer)
        >> FromBroker(heartbeat_answer(0))
    )


@pytest.mark.parametrize("closed", [Link.client_closed, Link.broker_closed])
def test_a_question_that_waits_for_that_ends_with_the_connection(closed: Callable[[Link], list[Command]]) -> None:
    class Asks(Plugin):
        ended = False

        def connected(self, connection: Connection) -> Steps:
            yield Sleep(9)
            try:
                yield Alone()
            finally:
                self.ended = True
            return None

    asks = build(Asks)
    link = Link(connection(), Filters([build(SaslInspected), asks]))
    (sleep,) = (command for command in link.begin() if isinstance(command, Wake))
    from_client(link, handshake(1))
    link.wake(sleep.token)
    from_broker(link, agreed(1))
    assert not asks.ended
    assert closed(link) == [Close(None)]
    assert asks.ended


def test_plain_tokens_without_headers_pass_after_handshake_v0() -> None:
    token = raw(b"\0A\0p")  # its first two bytes are the key of an api
    assert (
        greeting("PLAIN", 0)
        >> FromClient(token)
        << ToBroker(token)
        >> FromBroker(raw(b""))
        << ToClient(raw(b""))
        << known("PLAIN", "User:A")
        >> FromClient(heartbeat(2))
        << ToBroker(heartbeat(2))
        >> FromBroker(heartbeat_answer(2))
        << ToClient(heartbeat_answer(2))
    )


def test_scram_tokens_without_headers_take_two_rounds() -> None:
    assert (
        greeting("SCRAM-SHA-256", 0)
        >> FromClient(raw(b"n,,n=alice,r=abc"))
        << ToBroker(raw(b"n,,n=alice,r=abc"))
        >> FromBroker(raw(b"r=abcdef,s=c2FsdA==,i=4096"))
        << ToClient(raw(b"r=abcdef,s=c2FsdA==,i=4096"))
        >> FromClient(raw(SCRAM_FINAL))
        << ToBroker(raw(SCRAM_FINAL))
        >> FromBroker(raw(b"v=c2ln"))
        << ToClient(raw(b"v=c2ln"))
        << known("SCRAM-SHA-256", "User:alice")
        >> FromClient(heartbeat(2))
        << ToBroker(heartbeat(2))
    )


def wrapped_in_turn() -> Playbook:
    """A client that has sent all tokens of GSSAPI, without headers."""
    return (
        greeting("GSSAPI", 0)
        >> FromClient(raw(AP_REQ))
        << ToBroker(raw(AP_REQ))
        >> FromBroker(raw(AP_REP))
        << ToClient(raw(AP_REP))
        >> FromClient(raw(b""))
        << ToBroker(raw(b""))
        >> FromBroker(raw(WRAPPED))
        << ToClient(raw(WRAPPED))
        >> FromClient(raw(WRAPPED))
        << ToBroker(raw(WRAPPED))
    )


def test_kerberos_tokens_pass_until_the_last() -> None:
    assert (
        wrapped_in_turn()
        >> FromClient(heartbeat(2))
        << ToBroker(heartbeat(2))
        << known("GSSAPI", None)
        << PauseClient()
        << ResumeClient()
        >> FromBroker(heartbeat_answer(2))
        << ToClient(heartbeat_answer(2))
    )


def test_a_client_of_0_9_begins_with_a_token() -> None:
    assert (
        Playbook(build(SaslInspected), byte_by_byte=False)
        >> FromClient(raw(AP_REQ))
        << ToBroker(raw(AP_REQ))
        << PauseClient()
        << ResumeClient()
        >> FromBroker(raw(WRAPPED))
        << ToClient(raw(WRAPPED))
        >> FromClient(raw(WRAPPED))
        << ToBroker(raw(WRAPPED))
        >> FromClient(heartbeat(1))
        << ToBroker(heartbeat(1))
        << known("GSSAPI", None)
        << PauseClient()
        << ResumeClient()
    )


def test_such_a_token_is_none_later_on() -> None:
    assert (
        Playbook(build(SaslInspected))
        >> FromClient(heartbeat(1))
        << ToBroker(heartbeat(1))
        >> FromClient(raw(AP_REQ)[:12])
        << PauseClient()
        >> FromBroker(heartbeat_answer(1))
        << ToClient(heartbeat_answer(1))
        << Close(ANY)
    )


NOBODY_KNOWS = (
    SIZE.pack(40) + (max(APIS) + 1).to_bytes(2) + bytes(6) + b"\xff\xff" + b"a request for a topic that is..."[:30]
)


@pytest.mark.parametrize("passed", [[], [AP_REQ], [AP_REQ, b""]])
@pytest.mark.parametrize("frame", [NOBODY_KNOWS, heartbeat(2)], ids=["an unknown api", "a known api"])
def test_no_request_passes_for_a_token_of_kerberos(passed: list[bytes], frame: bytes) -> None:
    """A newer broker may serve an API that nobody knows here."""
    book = greeting("GSSAPI", 0)
    for token in passed:
        book = book >> FromClient(raw(token)) << ToBroker(raw(token))
    told = Emit(Refused("GSSAPI", "a message that is not GSSAPI's next"))
    assert book >> FromClient(frame) << told << PauseClient() << Close("authentication failed")


def test_an_api_that_nobody_knows_is_a_request_behind_the_last_token_of_kerberos() -> None:
    book = wrapped_in_turn() >> FromClient(NOBODY_KNOWS) << known("GSSAPI", None) << PauseClient()
    assert book << Close(f"the client asked for the unknown API {max(APIS) + 1}")


def test_a_mechanism_that_nobody_knows_needs_headers_around_its_tokens() -> None:
    known_here = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "GSSAPI")
    assert (
        Playbook(build(SaslInspected))
        >> FromClient(handshake(1, "OF-ONES-OWN", 0))
        << ToClient(agreed(1, ErrorCode.UNSUPPORTED_SASL_MECHANISM, 0, known_here))
        << Emit(Refused("unknown", "a mechanism whose tokens cannot be told from requests"))
        << PauseClient()
        << Close("authentication failed")
    )


@pytest.mark.parametrize("mechanism", ["PLAIN", "OF-ONES-OWN"])
def test_while_a_client_authenticates_its_requests_are_as_long_as_brokers_take_them(mechanism: str) -> None:
    long = SIZE.pack(LONGEST_TOKEN + 1)
    assert greeting(mechanism) >> FromClient(long) << PauseClient() << Close(ANY)
    assert (
        greeting(mechanism)
        >> FromClient(authenticate(2))
        << ToBroker(authenticate(2))
        >> FromBroker(yes(2))
        << ToClient(yes(2))
        << known(mechanism, "User:alice" if mechanism == "PLAIN" else None)
        >> FromClient(long)
    )


def test_after_a_refusal_requests_may_be_as_long_as_ever() -> None:
    """A broker whose listener has no SASL refuses a handshake, and serves the client."""
    refused, long = agreed(1, ErrorCode.ILLEGAL_SASL_STATE), SIZE.pack(LONGEST_TOKEN + 1)
    book = Playbook(build(SaslInspected)) >> FromClient(handshake(1)) << ToBroker(handshake(1))
    assert book >> FromBroker(refused) << ToClient(refused) >> FromClient(long)
    book = greeting("PLAIN") >> FromClient(authenticate(2)) << ToBroker(authenticate(2))
    assert book >> FromBroker(no(2)) << ToClient(no(2)) << not_taken("PLAIN", "User:alice") >> FromClient(long)


def test_a_token_sent_ahead_of_the_agreement_waits_for_it() -> None:
    token = raw(b"\0alice\0secret-of-alice")
    assert (
        Playbook(build(SaslInspected), byte_by_byte=False)
        >> FromClient(handshake(1, version=0) + token)
        << ToBroker(handshake(1, version=0))
        << PauseClient()
        >> FromBroker(agreed(1, version=0))
        << ToBroker(token)
        << ToClient(agreed(1, version=0))
        << ResumeClient()
        >> FromBroker(raw(b""))
        << ToClient(raw(b""))
        << known("PLAIN", "User:alice")
    )


def test_a_request_sent_ahead_of_the_yes_leaves_with_it() -> None:
    token = raw(b"\0alice\0secret-of-alice")
    assert (
        Playbook(build(SaslInspected), byte_by_byte=False)
        >> FromClient(handshake(1, version=0) + token + heartbeat(2))
        << ToBroker(handshake(1, version=0))
        << PauseClient()
        >> FromBroker(agreed(1, version=0))
        << ToBroker(token)
        << ToClient(agreed(1, version=0))
        >> FromBroker(raw(b""))
        << ToBroker(heartbeat(2))
        << ToClient(raw(b""))
        << known("PLAIN", "User:alice")
        << ResumeClient()
    )


def test_a_mechanism_that_the_broker_does_not_speak_is_forgotten() -> None:
    refused = agreed(1, ErrorCode.UNSUPPORTED_SASL_MECHANISM, 0)
    assert (
        Playbook(build(SaslInspected))
        >> FromClient(handshake(1, "PLAIN", 0))
        << ToBroker(handshake(1, "PLAIN", 0))
        >> FromBroker(refused)
        << ToClient(refused)
        >> FromClient(heartbeat(2))
        << ToBroker(heartbeat(2))
    )


@pytest.mark.parametrize("size", [LONGEST_TOKEN + 1, -1])
def test_a_token_that_is_too_large_ends_it(size: int) -> None:
    assert greeting("GSSAPI", 0) >> FromClient(size.to_bytes(4, signed=True)) << PauseClient() << Close(ANY)
    assert greeting("GSSAPI", 0) >> FromBroker(size.to_bytes(4, signed=True)) << Close(ANY)


def test_a_broker_that_talks_on_after_its_yes_is_not_believed() -> None:
    assert (
        greeting("PLAIN", 0)
        >> FromClient(raw(b"\0alice\0secret"))
        << ToBroker(raw(b"\0alice\0secret"))
        >> FromBroker(raw(b"") + raw(b"more than it was asked"))
        << ToClient(raw(b""))
        << known("PLAIN", "User:alice")
        << Close(ANY)
    )


def test_a_broker_that_takes_a_client_for_nobody_knows_whom_is_not_believed() -> None:
    """A client that is somebody to the broker and nobody here could do what nobody may."""
    book = Playbook(build(SaslInspected)) >> FromClient(authenticate(1)) << ToBroker(authenticate(1))
    book = book >> FromBroker(yes(1)) << Close("the broker took a token of a client that named no mechanism")
    assert book
    assert book.connection.mechanism is None


# What a client says of itself is one thing, or nothing passes.


def refused(number: int, mechanism: str, why: str) -> tuple[bytes, Emit]:
    """What a client is told whose token is odd, and those who watch."""
    told = f"Authentication failed during authentication due to invalid credentials with SASL mechanism {mechanism}"
    return no(number, told), Emit(Refused(mechanism, why))


ALICE, ADMIN = jwt(sub="alice") + "sig-", jwt(sub="admin") + "sig-"


@pytest.mark.parametrize(("first", "last"), [(ADMIN, ALICE), (ALICE, ADMIN), (ALICE, ALICE)])
def test_a_client_with_two_tokens_is_nobody(first: str, last: str) -> None:
    """Kafka takes the last of two `auth` fields, and checks no other."""
    token = b"n,,\x01auth=Bearer %b\x01auth=Bearer %b\x01\x01" % (first.encode(), last.encode())
    answer, told = refused(2, "OAUTHBEARER", "a key that is there twice, or that looks like another")
    book = greeting("OAUTHBEARER") >> FromClient(authenticate(2, token)) << ToClient(answer) << told
    assert book << PauseClient() << Close("authentication failed")
    assert book.connection.principal is book.connection.mechanism is None
    assert book.counters.failed_authentications == 1
    bare = greeting("OAUTHBEARER", 0) >> FromClient(raw(token)) << told << PauseClient()
    assert bare << Close("authentication failed")


@pytest.mark.parametrize("version", [0, 1])
def test_a_client_whose_token_was_refused_cannot_offer_another(version: int) -> None:
    """Kafka would take it, and whoever believes the first one takes the client for somebody else."""
    invalid = b'{"status":"invalid_token"}'
    sent = raw if version == 0 else partial(authenticate, 2)
    answered = raw if version == 0 else partial(yes, 2)
    _, told = refused(2, "OAUTHBEARER", "a second token in place of the one that was refused")
    book = (
        greeting("OAUTHBEARER", version)
        >> FromClient(sent(bearer(ADMIN)))
        << ToBroker(sent(bearer(ADMIN)))
        >> FromBroker(answered(invalid))
        << ToClient(answered(invalid))
        >> FromClient(sent(bearer(ALICE)))
    )
    if version:
        book = book << ToClient(refused(2, "OAUTHBEARER", "")[0])
    assert book << told << PauseClient() << Close("authentication failed")


@pytest.mark.parametrize("version", [0, 1])
def test_a_refused_token_is_not_believed_later(version: int) -> None:
    token, invalid = bearer(ADMIN), b'{"status":"invalid_token"}'
    sent = raw if version == 0 else partial(authenticate, 2)
    answered = raw if version == 0 else partial(yes, 2)
    assert (
        greeting("OAUTHBEARER", version)
        >> FromClient(sent(token))
        << ToBroker(sent(token))
        >> FromBroker(answered(invalid))
        << ToClient(answered(invalid))
        >> FromClient(sent(b"\x01"))
        << ToBroker(sent(b"\x01"))
        >> FromBroker(answered(b""))
        << Close("the broker takes the client for somebody, and it is not known whom")
    )


@pytest.mark.parametrize(("mechanism", "token", "why"), ODD)
def test_nothing_odd_reaches_the_broker(mechanism: str, token: bytes, why: str) -> None:
    _, commands = facts(
        [("client", handshake(1, mechanism)), ("broker", agreed(1)), ("client", authenticate(2, token))]
    )
    assert not [command for command in commands if isinstance(command, ToBroker)]
    (told,) = [command.event for command in commands if isinstance(command, Emit)]
    assert told == Refused(mechanism, why)
    assert [command.reason for command in commands if isinstance(command, Close)] == ["authentication failed"]


def test_a_final_message_of_another_exchange_does_not_pass() -> None:
    other = SCRAM_FINAL.replace(b"r=abc", b"r=xyz")
    answer, told = refused(3, "SCRAM-SHA-256", "another nonce than that of the first message")
    assert (
        greeting("SCRAM-SHA-256")
        >> FromClient(authenticate(2, SCRAM_FIRST))
        << ToBroker(authenticate(2, SCRAM_FIRST))
        >> FromBroker(yes(2, b"r=abcdef,s=c2FsdA==,i=4096"))
        << ToClient(yes(2, b"r=abcdef,s=c2FsdA==,i=4096"))
        >> FromClient(authenticate(3, other))
        << ToClient(answer)
        << told
        << PauseClient()
        << Close("authentication failed")
    )


@pytest.mark.parametrize(
    ("mechanism", "token", "message", "why"),
    [
        (
            "PLAIN",
            b"\0bob\0bob-secret",
            "Cannot change principals during re-authentication from User.alice: User.bob",
            "another principal on authentication again",
        ),
        (
            "SCRAM-SHA-256",
            SCRAM_FIRST,
            "SASL mechanism 'SCRAM-SHA-256' requested by client is not supported for re-authentication of mechanism "
            "'PLAIN'",
            "another mechanism on authentication again",
        ),
        (
            "PLAIN",
            b"\0\0",
            "Authentication failed during re-authentication due to invalid credentials with SASL mechanism PLAIN",
            "an empty name",
        ),
    ],
)
def test_nobody_becomes_somebody_else(mechanism: str, token: bytes, message: str, why: str) -> None:
    assert (
        greeting("PLAIN")
        >> FromClient(authenticate(2))
        << ToBroker(authenticate(2))
        >> FromBroker(yes(2, lifetime=2000))
        << ToClient(yes(2, lifetime=2000))
        << known("PLAIN", "User:alice")
        >> FromClient(handshake(3, mechanism))
        << ToBroker(handshake(3, mechanism))
        >> FromBroker(agreed(3))
        << ToClient(agreed(3))
        >> FromClient(authenticate(4, token))
        << ToClient(no(4, message))
        << Emit(Refused(mechanism, why))
        << PauseClient()
        << Close("authentication failed")
    )


def test_a_token_after_the_last_is_asked_of_the_broker_and_counts_for_nothing() -> None:
    out_of_turn = no(3, "SaslAuthenticate request received after successful authentication", error=34)
    assert (
        greeting("PLAIN")
        >> FromClient(authenticate(2))
        << ToBroker(authenticate(2))
        >> FromBroker(yes(2))
        << ToClient(yes(2))
        << known("PLAIN", "User:alice")
        >> FromClient(authenticate(3, b"\0bob\0bob-secret"))
        << ToBroker(authenticate(3, b"\0bob\0bob-secret"))
        >> FromBroker(out_of_turn)
        << ToClient(out_of_turn)
        >> FromClient(heartbeat(4))
        << ToBroker(heartbeat(4))
    )


def facts(data: list[tuple[str, bytes]]) -> tuple[Connection, list[Command]]:
    one = connection()
    link = Link(one, Filters([build(SaslInspected)]), Limits())
    commands = link.begin()
    for side, chunk in data:
        commands, _ = with_turns(link, (from_client if side == "client" else from_broker)(link, bytearray(chunk)))
    return one, commands


def test_nothing_secret_is_kept() -> None:
    one, _ = facts(
        [
            ("client", handshake(1)),
            ("broker", agreed(1)),
            ("client", authenticate(2)),
            ("broker", yes(2)),
        ]
    )
    assert one.principal == "User:alice"
    kept = repr([one.facts(), [vars(note) if hasattr(note, "__dict__") else note for note in one.notes.values()]])
    assert "alice-secret" not in kept
