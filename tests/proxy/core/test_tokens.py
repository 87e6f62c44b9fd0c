"""What tokens tell, and what of it counts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.core.tokens import FOLLOWED, NOBODY, Claim, Exchange, bearer, following, oauthbearer, plain, scram
from tests.plugins import sasl


@pytest.mark.parametrize(
    ("token", "claim"),
    [
        (b"\0alice\0secret", Claim("alice")),
        (b"alice\0alice\0secret", Claim("alice")),
        ("\0zoë\0secret".encode(), Claim("zoë")),
        (b"\0\0secret", NOBODY),
        (b"\0alice", NOBODY),
        (b"\0a\0b\0c", NOBODY),
        (b"\0\xff\0secret", NOBODY),
        (b"", NOBODY),
    ],
)
def test_plain_says_who_it_is(token: bytes, claim: Claim) -> None:
    assert plain(token) == claim


@pytest.mark.parametrize(
    ("token", "claim"),
    [
        (b"n,,n=alice,r=abc", Claim("alice")),
        (b"y,a=alice,n=alice,r=abc", Claim("alice")),
        (b"n,,n=a=2Cb=3Dc=3D2C,r=abc", Claim("a,b=c=2C")),
        (b"n,,n=id7,r=abc,tokenauth=true", Claim(None, "id7")),
        (b"n,,n=id7,r=abc,tokenauth=TRUE", Claim(None, "id7")),
        (b"n,,n=alice,r=abc,tokenauth=false", Claim("alice")),
        (b"n,,n=alice,n=bob,r=abc", NOBODY),
        (b"n,,r=abc", NOBODY),
        (b"", NOBODY),
    ],
)
def test_scram_says_who_it_is(token: bytes, claim: Claim) -> None:
    assert scram(token) == claim


@pytest.mark.parametrize(
    ("token", "claim"),
    [
        (sasl.bearer(sasl.jwt(sub="svc")), Claim("svc")),
        (b"n,a=x,\x01auth=Bearer " + sasl.jwt(sub="svc").encode() + b"\x01traceparent=1\x01\x01", Claim("svc")),
        (sasl.bearer(sasl.jwt(name="svc")), NOBODY),
        (sasl.bearer(sasl.jwt(sub=7)), NOBODY),
        (sasl.bearer("a.b"), NOBODY),
        (sasl.bearer("a.!.c"), NOBODY),
        (sasl.bearer("a." + "W" * 3 + ".c"), NOBODY),
        (b"n,,\x01auth=Basic abc\x01\x01", NOBODY),
        (b"\x01", NOBODY),
    ],
)
def test_a_token_has_a_subject(token: bytes, claim: Claim) -> None:
    assert oauthbearer(token) == claim


def test_the_subject_may_be_in_another_claim() -> None:
    exchange = Exchange("OAUTHBEARER", following("client_id"))
    exchange.client(sasl.bearer(sasl.jwt(sub="svc", client_id="orders")))
    assert exchange.claim == Claim("orders")
    assert oauthbearer(sasl.bearer(sasl.jwt(sub="svc")), "client_id") == NOBODY


def test_a_bearer_token_is_found_in_its_message() -> None:
    assert bearer(b"n,,\x01auth=Bearer abc\x01\x01") == "abc"
    assert bearer(b"n,,\x01auth=bearer abc\x01\x01") == "abc"
    assert bearer(b"n,,\x01host=kafka\x01\x01") is None


@pytest.mark.parametrize("mechanism", [*FOLLOWED, "OF-ONES-OWN"])
@given(tokens=st.lists(st.binary(max_size=60), max_size=4))
def test_any_bytes_are_read_without_an_error(mechanism: str, tokens: list[bytes]) -> None:
    exchange = Exchange(mechanism)
    for token in tokens:
        exchange.client(token)
        exchange.broker(token)


def test_a_yes_before_any_claim_counts_for_nothing() -> None:
    assert not Exchange("PLAIN").broker(b"")
    assert not Exchange("GSSAPI").broker(b"")


def test_the_first_claim_is_the_one_that_counts() -> None:
    exchange = Exchange("SCRAM-SHA-256")
    exchange.client(b"n,,n=alice,r=abc")
    exchange.client(b"n,,n=bob,r=abc")
    assert exchange.claim == Claim("alice")
