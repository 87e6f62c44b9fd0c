"""SASL that passes by: what is learnt of it, in every order of messages."""

from typing import Any

import pytest

from plugins.sasl_inspected import SaslInspected
from proxy.core.commands import Close, Command, PauseClient, ResumeClient, ToBroker, ToClient
from proxy.core.context import Connection
from proxy.core.limits import Limits
from proxy.core.link import Link
from proxy.core.route import Routes
from proxy.protocol.errors import ErrorCode
from tests.plugins.sasl import agreed, authenticate, bearer, handshake, jwt, known, no, raw, yes
from tests.proxy.core.frames import heartbeat, heartbeat_answer
from tests.proxy.core.lending import from_broker, from_client
from tests.proxy.core.playbook import ANY, Broker, Client, Playbook, connection

KERBEROS = b"\x60\x82\x01\x00" + b"k" * 40


def greeting(mechanism: str, version: int = 1) -> Playbook:
    """A client that has agreed with its broker on a mechanism."""
    return (
        Playbook(SaslInspected())
        >> Client(handshake(1, mechanism, version))
        << ToBroker(handshake(1, mechanism, version))
        >> Broker(agreed(1, version=version))
        << ToClient(agreed(1, version=version))
    )


@pytest.mark.parametrize("version", [0, 1, 2])
def test_who_came_with_plain_is_learnt_when_the_broker_says_yes(version: int) -> None:
    assert (
        greeting("PLAIN")
        >> Client(authenticate(2, version=version))
        << ToBroker(authenticate(2, version=version))
        >> Broker(yes(2, version=version))
        << ToClient(yes(2, version=version))
        << known("PLAIN", "User:alice")
        >> Client(heartbeat(3))
        << ToBroker(heartbeat(3))
    )


def test_nobody_is_learnt_when_the_broker_says_no() -> None:
    book = greeting("PLAIN") >> Client(authenticate(2)) << ToBroker(authenticate(2)) >> Broker(no(2)) << ToClient(no(2))
    assert book
    assert book.connection.principal is None
    assert book.connection.mechanism is None


def test_scram_says_yes_with_its_signature_only() -> None:
    assert (
        greeting("SCRAM-SHA-256")
        >> Client(authenticate(2, b"n,,n=a=2Cb=3Dc,r=abc"))
        << ToBroker(authenticate(2, b"n,,n=a=2Cb=3Dc,r=abc"))
        >> Broker(yes(2, b"r=abcdef,s=c2FsdA==,i=4096"))
        << ToClient(yes(2, b"r=abcdef,s=c2FsdA==,i=4096"))
        >> Client(authenticate(3, b"c=biws,r=abcdef,p=cHJvb2Y="))
        << ToBroker(authenticate(3, b"c=biws,r=abcdef,p=cHJvb2Y="))
        >> Broker(yes(3, b"v=c2ln"))
        << ToClient(yes(3, b"v=c2ln"))
        << known("SCRAM-SHA-256", "User:a,b=c")
    )


def test_who_comes_with_a_delegation_token_is_known_to_the_broker_alone() -> None:
    book = (
        greeting("SCRAM-SHA-512")
        >> Client(authenticate(2, b"n,,n=token-7,r=abc,tokenauth=true"))
        << ToBroker(authenticate(2, b"n,,n=token-7,r=abc,tokenauth=true"))
        >> Broker(yes(2, b"v=c2ln"))
        << ToClient(yes(2, b"v=c2ln"))
        << known("SCRAM-SHA-512", None)
    )
    assert book
    assert book.connection.delegation == "token-7"


def test_the_subject_of_a_token_is_the_principal() -> None:
    token = bearer(jwt(sub="svc") + "sig")
    assert (
        greeting("OAUTHBEARER")
        >> Client(authenticate(2, token))
        << ToBroker(authenticate(2, token))
        >> Broker(yes(2))
        << ToClient(yes(2))
        << known("OAUTHBEARER", "User:svc")
    )


def test_a_refused_token_is_no_principal() -> None:
    token = bearer(jwt(sub="svc") + "sig")
    assert (
        greeting("OAUTHBEARER")
        >> Client(authenticate(2, token))
        << ToBroker(authenticate(2, token))
        >> Broker(yes(2, b'{"status":"invalid_token"}'))
        << ToClient(yes(2, b'{"status":"invalid_token"}'))
        >> Client(authenticate(3, b"\x01"))
        << ToBroker(authenticate(3, b"\x01"))
        >> Broker(no(3))
        << ToClient(no(3))
    )


def test_of_kerberos_only_that_it_succeeded_is_learnt_and_not_before_the_last_step() -> None:
    assert (
        greeting("GSSAPI")
        >> Client(authenticate(2, KERBEROS))
        << ToBroker(authenticate(2, KERBEROS))
        >> Broker(yes(2, KERBEROS))
        << ToClient(yes(2, KERBEROS))
        >> Client(authenticate(3, KERBEROS))
        << ToBroker(authenticate(3, KERBEROS))
        >> Broker(yes(3))
        << ToClient(yes(3))
        << known("GSSAPI", None)
    )


def test_of_another_mechanism_only_that_a_step_succeeded_is_learnt() -> None:
    assert (
        greeting("OF-ONES-OWN")
        >> Client(authenticate(2, b"me"))
        << ToBroker(authenticate(2, b"me"))
        >> Broker(yes(2, b"you"))
        << ToClient(yes(2, b"you"))
        << known("OF-ONES-OWN", None)
    )


def test_a_client_that_sends_ahead_waits_for_the_answer_that_its_claim_gets() -> None:
    """Otherwise the second claim would count by the yes to the first."""
    second = authenticate(4, b"\0bob\0wrong")
    assert (
        Playbook(SaslInspected(), byte_by_byte=False)
        >> Client(handshake(1) + authenticate(2) + handshake(3) + second)
        << ToBroker(handshake(1))
        << PauseClient()
        >> Broker(agreed(1))
        << ToBroker(authenticate(2))
        << ToClient(agreed(1))
        >> Broker(yes(2))
        << ToBroker(handshake(3))
        << ToClient(yes(2))
        << known("PLAIN", "User:alice")
        >> Broker(agreed(3))
        << ToBroker(second)
        << ToClient(agreed(3))
        << ResumeClient()
        >> Broker(no(4))
        << ToClient(no(4))
    )


def test_a_session_is_followed_when_it_is_renewed() -> None:
    assert (
        greeting("PLAIN")
        >> Client(authenticate(2))
        << ToBroker(authenticate(2))
        >> Broker(yes(2, lifetime=2000))
        << ToClient(yes(2, lifetime=2000))
        << known("PLAIN", "User:alice")
        >> Client(heartbeat(3) + handshake(4))
        << ToBroker(heartbeat(3) + handshake(4))
        >> Broker(heartbeat_answer(3) + agreed(4))
        << ToClient(heartbeat_answer(3) + agreed(4))
        >> Client(authenticate(5))
        << ToBroker(authenticate(5))
        >> Broker(yes(5))
        << ToClient(yes(5))
        << known("PLAIN", "User:alice", again=True)
    )


def test_plain_tokens_without_headers_pass_after_handshake_v0() -> None:
    token = raw(b"\0A\0p")  # its first two bytes are the key of an api
    assert (
        greeting("PLAIN", 0)
        >> Client(token)
        << ToBroker(token)
        >> Broker(raw(b""))
        << ToClient(raw(b""))
        << known("PLAIN", "User:A")
        >> Client(heartbeat(2))
        << ToBroker(heartbeat(2))
        >> Broker(heartbeat_answer(2))
        << ToClient(heartbeat_answer(2))
    )


def test_scram_tokens_without_headers_take_two_rounds() -> None:
    assert (
        greeting("SCRAM-SHA-256", 0)
        >> Client(raw(b"n,,n=alice,r=abc"))
        << ToBroker(raw(b"n,,n=alice,r=abc"))
        >> Broker(raw(b"r=abcdef,s=c2FsdA==,i=4096"))
        << ToClient(raw(b"r=abcdef,s=c2FsdA==,i=4096"))
        >> Client(raw(b"c=biws,r=abcdef,p=cHJvb2Y="))
        << ToBroker(raw(b"c=biws,r=abcdef,p=cHJvb2Y="))
        >> Broker(raw(b"v=c2ln"))
        << ToClient(raw(b"v=c2ln"))
        << known("SCRAM-SHA-256", "User:alice")
        >> Client(heartbeat(2))
        << ToBroker(heartbeat(2))
    )


def test_kerberos_tokens_pass_until_the_first_request() -> None:
    assert (
        greeting("GSSAPI", 0)
        >> Client(raw(KERBEROS))
        << ToBroker(raw(KERBEROS))
        >> Broker(raw(KERBEROS))
        << ToClient(raw(KERBEROS))
        >> Client(raw(b""))
        << ToBroker(raw(b""))
        >> Broker(raw(b"\x05\x04wrap"))
        << ToClient(raw(b"\x05\x04wrap"))
        >> Client(raw(b"\x05\x04wrapped"))
        << ToBroker(raw(b"\x05\x04wrapped"))
        >> Client(heartbeat(2))
        << ToBroker(heartbeat(2))
        << known("GSSAPI", None)
        << PauseClient()
        << ResumeClient()
        >> Broker(heartbeat_answer(2))
        << ToClient(heartbeat_answer(2))
    )


def test_a_client_of_0_9_begins_with_a_token() -> None:
    assert (
        Playbook(SaslInspected(), byte_by_byte=False)
        >> Client(raw(KERBEROS))
        << ToBroker(raw(KERBEROS))
        << PauseClient()
        << ResumeClient()
        >> Broker(raw(KERBEROS))
        << ToClient(raw(KERBEROS))
        >> Client(heartbeat(1))
        << ToBroker(heartbeat(1))
        << known("GSSAPI", None)
        << PauseClient()
        << ResumeClient()
    )


def test_such_a_token_is_none_later_on() -> None:
    assert (
        Playbook(SaslInspected())
        >> Client(heartbeat(1))
        << ToBroker(heartbeat(1))
        >> Client(raw(KERBEROS)[:12])
        << PauseClient()
        >> Broker(heartbeat_answer(1))
        << ToClient(heartbeat_answer(1))
        << Close(ANY)
    )


def test_a_token_sent_ahead_of_the_agreement_waits_for_it() -> None:
    token = raw(b"\0alice\0secret-of-alice")
    assert (
        Playbook(SaslInspected(), byte_by_byte=False)
        >> Client(handshake(1, version=0) + token)
        << ToBroker(handshake(1, version=0))
        << PauseClient()
        >> Broker(agreed(1, version=0))
        << ToBroker(token)
        << ToClient(agreed(1, version=0))
        << ResumeClient()
        >> Broker(raw(b""))
        << ToClient(raw(b""))
        << known("PLAIN", "User:alice")
    )


def test_a_mechanism_that_the_broker_does_not_speak_is_forgotten() -> None:
    refused = agreed(1, ErrorCode.UNSUPPORTED_SASL_MECHANISM, 0)
    assert (
        Playbook(SaslInspected())
        >> Client(handshake(1, "PLAIN", 0))
        << ToBroker(handshake(1, "PLAIN", 0))
        >> Broker(refused)
        << ToClient(refused)
        >> Client(heartbeat(2))
        << ToBroker(heartbeat(2))
    )


@pytest.mark.parametrize("size", [(512 << 10) + 1, -1])
def test_a_token_that_is_too_large_ends_it(size: int) -> None:
    assert greeting("GSSAPI", 0) >> Client(size.to_bytes(4, signed=True)) << PauseClient() << Close(ANY)
    assert greeting("GSSAPI", 0) >> Broker(size.to_bytes(4, signed=True)) << Close(ANY)


def test_a_broker_that_talks_on_after_its_yes_is_not_believed() -> None:
    assert (
        greeting("PLAIN", 0)
        >> Client(raw(b"\0alice\0secret"))
        << ToBroker(raw(b"\0alice\0secret"))
        >> Broker(raw(b"") + raw(b"more than it was asked"))
        << ToClient(raw(b""))
        << known("PLAIN", "User:alice")
        << Close(ANY)
    )


def test_without_an_exchange_nothing_is_learnt() -> None:
    """A broker that says yes to a client that never named a mechanism is no reason to believe anything."""
    book = Playbook(SaslInspected()) >> Client(authenticate(1)) << ToBroker(authenticate(1))
    book = book >> Broker(yes(1)) << ToClient(yes(1))
    assert book
    assert book.connection.mechanism is None


def facts(data: list[tuple[str, bytes]]) -> tuple[Connection, list[Command]]:
    one = connection()
    link = Link(one, Routes([SaslInspected()]), Limits())
    commands: list[Any] = link.begin()
    for side, chunk in data:
        commands = (from_client if side == "client" else from_broker)(link, bytearray(chunk))
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
    assert "alice" in kept
    assert "alice-secret" not in kept
