"""Tokens that pass through the proxy: the names that they claim, and which of them count."""

from __future__ import annotations

import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.core.sasl.name import ClaimError
from proxy.core.sasl.observed import FOLLOWED, GSSAPI, NOBODY, Claim, following, observed_exchange
from tests.plugins import sasl
from tests.proxy.core.sasl.odd import ALICE, BEARER, JWT, PLAIN, SCRAM, SCRAM_FINAL

FIRST = sasl.SCRAM_FIRST
REFUSED = b'{"status":"invalid_token"}'


def claimed(mechanism: str, token: bytes) -> Claim | None:
    exchange = observed_exchange(mechanism)
    exchange.client(token)
    return exchange.claim


@pytest.mark.parametrize(
    ("mechanism", "token", "claim"),
    [
        ("PLAIN", b"\0alice\0secret", Claim("alice")),
        ("PLAIN", b"\0alice\0$accessToken:" + b"t" * 8000, Claim("alice")),
        ("SCRAM-SHA-256", b"n,,n=a=2Cb,r=abc", Claim("a,b")),
        ("SCRAM-SHA-512", b"n,,n=id7,r=abc,tokenauth=true", Claim(None, "id7")),
        ("OAUTHBEARER", sasl.bearer(ALICE), Claim("alice")),
        ("OAUTHBEARER", sasl.bearer(ALICE).replace(b"n,,", b"n,a=alice,"), Claim("alice")),
        ("OAUTHBEARER", sasl.bearer("opaque"), NOBODY),
        ("GSSAPI", sasl.AP_REQ, NOBODY),
        ("OF-ONES-OWN", b"anything", NOBODY),
    ],
)
def test_the_first_token_says_who_it_is(mechanism: str, token: bytes, claim: Claim) -> None:
    assert claimed(mechanism, token) == claim


ODD = [
    *(("PLAIN", token, why) for token, why in PLAIN),
    *((GSSAPI, token, "a message that is not GSSAPI's next") for token in (b"", b"\x60anything", sasl.WRAPPED)),
    *((mechanism, token, why) for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512") for token, why in SCRAM),
    *(("OAUTHBEARER", token, why) for token, why in BEARER),
    *(("OAUTHBEARER", sasl.bearer(token), why) for token, why in JWT if re.fullmatch(r"[-\w]*(\.[-\w]*){2}", token)),
]


@pytest.mark.parametrize(("mechanism", "token", "why"), ODD)
def test_an_odd_token_must_not_pass(mechanism: str, token: bytes, why: str) -> None:
    with pytest.raises(ClaimError):
        claimed(mechanism, token)
    assert why


@pytest.mark.parametrize("token", [ALICE, "opaque"])
def test_a_token_is_for_nobody_but_its_subject(token: str) -> None:
    with pytest.raises(ClaimError, match="another authorization id"):
        claimed("OAUTHBEARER", sasl.bearer(token).replace(b"n,,", b"n,a=admin,"))


def test_the_subject_may_be_in_another_claim() -> None:
    exchange = observed_exchange("OAUTHBEARER", following("client_id"))
    exchange.client(sasl.bearer(sasl.jwt(sub="svc", client_id="orders")))
    assert exchange.claim == Claim("orders")
    with pytest.raises(ClaimError, match="client_id"):
        observed_exchange("OAUTHBEARER", following("client_id")).client(sasl.bearer(sasl.jwt(sub="svc")))


@pytest.mark.parametrize("mechanism", [*FOLLOWED, "GSSAPI", "OF-ONES-OWN"])
@given(tokens=st.lists(st.binary(max_size=60), max_size=4))
def test_any_bytes_are_read_or_refused(mechanism: str, tokens: list[bytes]) -> None:
    exchange = observed_exchange(mechanism)
    for token in tokens:
        with suppress(ClaimError):
            exchange.client(token)
        with suppress(ClaimError):
            exchange.broker(token)


@pytest.mark.parametrize(
    ("mechanism", "talk"),
    [
        ("PLAIN", [b"\0alice\0secret", b""]),
        ("SCRAM-SHA-256", [FIRST, b"r=abcdef,s=c2FsdA==,i=4096", sasl.SCRAM_FINAL, b"v=c2ln"]),
        ("OAUTHBEARER", [sasl.bearer(ALICE), b""]),
        ("GSSAPI", [sasl.AP_REQ, b"\x60", b"", b"\5\4", sasl.WRAPPED, b""]),
        ("GSSAPI", [sasl.AP_REQ, b"\5\4", sasl.WRAPPED, b""]),
    ],
)
def test_the_broker_says_yes_at_the_end(mechanism: str, talk: list[bytes]) -> None:
    exchange = observed_exchange(mechanism)
    answers = []
    for token, answer in zip(talk[::2], talk[1::2], strict=True):
        exchange.client(token)
        answers.append(exchange.broker(answer))
    assert answers == [False] * (len(answers) - 1) + [True]


@pytest.mark.parametrize(
    ("mechanism", "talk"),
    [
        ("PLAIN", [b""]),
        ("SCRAM-SHA-256", [b"v=c2ln"]),
        ("SCRAM-SHA-256", [FIRST, b"r=abcdef,s=c2FsdA==,i=4096", sasl.SCRAM_FINAL, b""]),
        ("SCRAM-SHA-256", [FIRST, b"r=abcdef,s=c2FsdA==,i=4096", sasl.SCRAM_FINAL, b"e=other-error"]),
        ("OAUTHBEARER", [b""]),
        ("GSSAPI", [b""]),
        ("GSSAPI", [sasl.AP_REQ, b""]),
        ("GSSAPI", [sasl.AP_REQ, b"\5\4", sasl.WRAPPED, b"more"]),
        ("OAUTHBEARER", [sasl.bearer(ALICE), REFUSED, b"\x01", b""]),
        ("OAUTHBEARER", [sasl.bearer(ALICE), REFUSED, b"\x01", REFUSED]),
    ],
)
def test_a_yes_to_nothing_is_none(mechanism: str, talk: list[bytes]) -> None:
    """The messages before it are valid; no server of this mechanism gives the last response."""
    exchange = observed_exchange(mechanism)
    if len(talk) % 2:
        talk = [b"", *talk]
    for token, answer in zip(talk[:-2:2], talk[1:-2:2], strict=True):
        exchange.client(token)
        assert not exchange.broker(answer)
    if talk[-2]:
        exchange.client(talk[-2])
    with pytest.raises(ClaimError, match="it is not known whom"):
        exchange.broker(talk[-1])


def test_a_yes_before_any_token_counts_for_nothing() -> None:
    assert not observed_exchange("OF-ONES-OWN").broker(b"")


@pytest.mark.parametrize(
    ("mechanism", "tokens", "why"),
    [
        ("PLAIN", [b"\0alice\0x", b"\0bob\0x"], "a token after the last"),
        ("SCRAM-SHA-256", [FIRST, b"n,,n=bob,r=abc"], "a message that is not SCRAM's final"),
        ("SCRAM-SHA-256", [FIRST, sasl.SCRAM_FINAL, sasl.SCRAM_FINAL], "a token after the last"),
        ("OAUTHBEARER", [sasl.bearer(ALICE)] * 2, "a second token in place of the one that was refused"),
        ("OAUTHBEARER", [sasl.bearer(ALICE), b"\x01", b"\x01"], "a token after the last"),
        *(("SCRAM-SHA-256", [FIRST, token], why) for token, why in SCRAM_FINAL),
    ],
)
def test_a_client_says_who_it_is_once(mechanism: str, tokens: list[bytes], why: str) -> None:
    exchange = observed_exchange(mechanism)
    for token in tokens[:-1]:
        exchange.client(token)
    with pytest.raises(ClaimError) as raised:
        exchange.client(tokens[-1])
    assert str(raised.value) == why
