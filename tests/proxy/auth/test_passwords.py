"""PLAIN and SCRAM: a client with the password is accepted, and no other client learns anything."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scramp import ScramClient

from proxy.auth.passwords import BAD, PlainExchange, ScramExchange
from proxy.auth.verifiers import MECHANISMS, verifiers
from proxy.core.sasl.authority import Accepted, Challenge, Rejected
from proxy.core.sasl.plain import OTHER_AUTHORIZATION
from tests.proxy.auth.stepping import step

USERS = {"alice": verifiers("alice-secret"), "a,b=c": verifiers("odd")}


ODD = "Authentication failed during authentication due to invalid credentials with SASL mechanism PLAIN"


def plain(token: bytes) -> object:
    return step(PlainExchange(lambda: USERS), token)


@pytest.mark.parametrize("authorization", [b"", b"alice"])
def test_plain_takes_the_right_password(authorization: bytes) -> None:
    assert plain(authorization + b"\0alice\0alice-secret") == Accepted("alice")


@pytest.mark.parametrize(
    ("token", "message"),
    [
        (b"\0alice\0wrong", BAD),
        (b"\0nobody\0alice-secret", BAD),
        (b"\0\xff\0x", ODD),
        (b"bob\0alice\0alice-secret", OTHER_AUTHORIZATION),
        (b"\0\0alice-secret", ODD),
        (b"\0alice\0", ODD),
        (b"alice", ODD),
    ],
)
def test_plain_says_what_a_broker_says(token: bytes, message: str) -> None:
    outcome = plain(token)
    assert isinstance(outcome, Rejected)
    assert outcome.message == message
    assert "secret" not in outcome.why


def test_a_password_is_checked_in_a_thread() -> None:
    call = next(PlainExchange(lambda: USERS).step(b"\0alice\0alice-secret"))
    assert call.apart
    assert call.work() == Accepted("alice")
    with pytest.raises(StopIteration):
        next(PlainExchange(lambda: USERS).step(b"x" * 100_000))


def talk(mechanism: str, user: str, password: str, again: bool = False) -> object:
    client = ScramClient([mechanism], user, password)
    server = ScramExchange(lambda: USERS, mechanism, again)
    first = server.step(client.get_client_first().encode())
    assert isinstance(first, Challenge)
    client.set_server_first(first.token.decode())
    outcome = server.step(client.get_client_final().encode())
    if isinstance(outcome, Accepted):
        client.set_server_final(outcome.token.decode())
    return outcome


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_scram_takes_the_right_password(mechanism: str) -> None:
    outcome = talk(mechanism, "alice", "alice-secret")
    assert isinstance(outcome, Accepted)
    assert outcome.user == "alice"
    assert isinstance(talk(mechanism, "a,b=c", "odd"), Accepted)


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_scram_tells_an_unknown_user_from_a_wrong_password_in_nothing(mechanism: str, again: bool) -> None:
    about = "re-authentication" if again else "authentication"
    message = f"Authentication failed during {about} due to invalid credentials with SASL mechanism {mechanism}"
    wrong, unknown = talk(mechanism, "alice", "wrong", again), talk(mechanism, "nobody", "alice-secret", again)
    assert isinstance(wrong, Rejected)
    assert isinstance(unknown, Rejected)
    assert (wrong.user, unknown.user) == ("alice", None)
    assert wrong[:2] == unknown[:2]
    assert wrong.message == message


def test_an_unknown_users_salt_stays_the_same() -> None:
    first = [ScramExchange(lambda: USERS, "SCRAM-SHA-256", False).step(b"n,,n=nobody,r=abc") for _ in range(2)]
    salts = {outcome.token.split(b",s=")[1] for outcome in first if isinstance(outcome, Challenge)}
    assert len(salts) == 1


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_delegation_token_is_no_password_of_ours(mechanism: str) -> None:
    assert isinstance(ScramExchange(lambda: USERS, mechanism, False).step(b"n,,n=alice,r=abc,tokenauth=true"), Rejected)


def final_of(server: ScramExchange, client: ScramClient) -> bytes:
    first = server.step(client.get_client_first().encode())
    assert isinstance(first, Challenge)
    client.set_server_first(first.token.decode())
    return str(client.get_client_final()).encode()


def test_a_proof_counts_once_and_for_its_own_nonce() -> None:
    server = ScramExchange(lambda: USERS, "SCRAM-SHA-256", False)
    proof = final_of(server, ScramClient(["SCRAM-SHA-256"], "alice", "alice-secret", c_nonce="abc"))
    other = ScramExchange(lambda: USERS, "SCRAM-SHA-256", False)
    other.step(b"n,,n=alice,r=abc")
    assert isinstance(other.step(proof), Rejected)
    assert isinstance(server.step(proof), Accepted)
    assert isinstance(server.step(proof), Rejected)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@given(tokens=st.lists(st.binary(max_size=80) | st.just(b"n,,n=alice,r=abc"), min_size=1, max_size=4))
def test_any_bytes_are_refused_without_an_error(mechanism: str, tokens: list[bytes]) -> None:
    server = ScramExchange(lambda: USERS, mechanism, False)
    for token in tokens:
        assert not isinstance(server.step(token), Accepted)
    for token in tokens:
        assert isinstance(plain(token), Rejected)
