"""Valid tokens, and all kinds of invalid ones."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from joserfc import jws, jwt
from joserfc.jwk import ECKey, KeySet, OctKey

from proxy.auth.tokens import INVALID, BearerExchange, TokenValidator
from proxy.core.decisions import TURN
from proxy.core.sasl.authority import Accepted, Challenge, Rejected
from proxy.core.sasl.name import ClaimError
from tests.plugins import sasl
from tests.proxy.auth.issuer import NOW, Issuer
from tests.proxy.auth.stepping import step

ISSUER = Issuer()
OTHER = Issuer("k1")
JUDGE = TokenValidator(lambda: ISSUER.keys, "https://issuer", ("kafka",), ("write",), clock=lambda: NOW)
UNSECURED = TokenValidator(None, clock=lambda: NOW)


def why(token: str, validate: TokenValidator = JUDGE) -> str:
    with pytest.raises(ClaimError) as raised:
        validate.validate(token)
    return str(raised.value)


@pytest.mark.parametrize("issuer", [Issuer(), Issuer(rsa=True)])
def test_a_right_token_says_whose_it_is_and_for_how_long(issuer: Issuer) -> None:
    validate = replace(JUDGE, keys=lambda: issuer.keys)
    assert validate.validate(issuer.token(scope="read write")) == ("alice", 3630.0)
    assert validate.validate(issuer.token(scp=["write"], aud=["x", "kafka"])) == ("alice", 3630.0)
    assert replace(validate, claim="client").validate(issuer.token(scope="write", client="app"))[0] == "app"


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ({"exp": NOW - 31}, "an expired token"),
        ({"exp": None}, "a token without an end"),
        ({"exp": "soon"}, 'a token whose claim "exp" is no time'),
        ({"exp": True}, 'a token whose claim "exp" is no time'),
        ({"nbf": NOW + 31}, "a token that is not valid yet"),
        ({"iat": NOW + 31}, "a token that is not valid yet"),
        ({"iss": "https://other"}, "a token of another issuer"),
        ({"iss": None}, "a token of another issuer"),
        ({"aud": "other"}, "a token for another audience"),
        ({"aud": "kafka other"}, "a token for another audience"),
        ({"aud": None}, "a token for another audience"),
        ({"aud": 7}, 'a token whose claim "aud" is no text'),
        ({"scope": "read"}, "a token without the scope"),
        ({"scope": None}, "a token without the scope"),
        ({"sub": None}, 'a token without a name in its claim "sub"'),
        ({"sub": 7}, 'a token whose claim "sub" is no text'),
        ({"sub": " "}, "a name with white space at its ends"),
    ],
)
def test_a_wrong_claim_is_refused(claims: dict[str, Any], said: str) -> None:
    assert why(ISSUER.token(**{"scope": "write"} | claims)) == said


def test_a_token_may_be_as_long_as_any_that_is_read() -> None:
    assert JUDGE.validate(ISSUER.token(scope="write", groups=["g" * 40] * 1000))[0] == "alice"


def test_a_header_that_nobody_knows_says_nothing() -> None:
    claims = {"sub": "alice", "exp": NOW + 60, "iss": "https://issuer", "aud": "kafka", "scope": "write"}
    header = {"alg": "ES256", "kid": "k1", "tenant": "a", "x5c": ["A" * 4000]}
    assert JUDGE.validate(ISSUER.sign(json.dumps(header).encode(), json.dumps(claims).encode()))[0] == "alice"


def test_clocks_may_differ_a_little() -> None:
    assert JUDGE.validate(ISSUER.token(scope="write", exp=NOW - 29, nbf=NOW + 29))[1] == 1.0


def test_a_key_of_somebody_else_is_refused() -> None:
    assert why(OTHER.token(scope="write")).startswith("a token that does not hold")


def test_a_key_that_is_not_known_is_asked_for() -> None:
    asked = []
    validate = replace(JUDGE, missing=lambda: asked.append(1))
    assert why(Issuer("k2").token(scope="write"), validate) == "a token by an unknown key"
    assert asked


def unnamed(issuer: Issuer) -> str:
    """A token that does not say by which key it is."""
    claims = {"sub": "alice", "exp": NOW + 60, "iss": "https://issuer", "aud": "kafka", "scope": "write"}
    return jwt.encode({"alg": issuer.algorithm}, claims, issuer.key, algorithms=[issuer.algorithm])


def test_a_token_that_names_no_key_is_by_the_first_key_for_its_algorithm() -> None:
    rsa, ec, later = Issuer("a", rsa=True), Issuer("b"), Issuer("c")
    validate = replace(JUDGE, keys=lambda: KeySet([rsa.key, ec.key, later.key]))
    for issuer in (rsa, ec):
        assert validate.validate(unnamed(issuer))[0] == "alice"
    for refused in (unnamed(later), unnamed(Issuer("d", rsa=True))):
        assert why(refused, validate).startswith("a token that does not hold")


def test_a_key_for_something_else_does_not_verify_a_token_that_names_no_key() -> None:
    other = ECKey.import_key(Issuer("b").key.as_dict(private=True) | {"use": "enc"})
    assert replace(JUDGE, keys=lambda: KeySet([other, ISSUER.key])).validate(unnamed(ISSUER))[0] == "alice"


def test_of_two_keys_with_one_id_the_one_for_the_algorithm_verifies_a_token() -> None:
    validate = replace(JUDGE, keys=lambda: KeySet([Issuer("k1", rsa=True).key, ISSUER.key]))
    assert validate.validate(ISSUER.token(scope="write"))[0] == "alice"


@pytest.mark.filterwarnings("ignore:Key size")
def test_a_short_rsa_key_verifies_nothing() -> None:
    """Brokers refuse it too, in jose4j."""
    short = Issuer("k1", rsa=True, bits=1_024)
    for token in (short.token(scope="write"), unnamed(short)):
        assert why(token, replace(JUDGE, keys=lambda: short.keys)) == "a token by an RSA key of 1,024 bits, under 2,048"


def test_a_public_key_is_no_shared_secret() -> None:
    """The attack on libraries that take the algorithm from the token."""
    shared = OctKey.import_key(ISSUER.jwks)
    claims = {"sub": "alice", "exp": NOW + 60, "iss": "https://issuer", "aud": "kafka", "scope": "write"}
    forged = jwt.encode({"alg": "HS256", "kid": "k1"}, claims, shared, algorithms=["HS256"])
    assert why(forged) == "a token by an algorithm that no key is for"


def test_without_a_signature_a_token_counts_only_where_it_may() -> None:
    bare = sasl.jwt(sub="alice", exp=NOW + 60, iss="https://issuer", aud="kafka", scope="write")
    assert why(bare) == "a token by an algorithm that no key is for"
    assert UNSECURED.validate(bare)[0] == "alice"
    assert why(ISSUER.token(), UNSECURED) == "a token with a signature where none can be checked"
    assert why("x", UNSECURED) == "a token that is no JWT"
    assert why("W10.W10.", UNSECURED) == "a token that is no JSON object"


def test_a_refusal_is_told_in_two_steps() -> None:
    bearer = BearerExchange(JUDGE)
    assert step(bearer, sasl.bearer("nonsense")) == Challenge(INVALID.encode())
    rejected = step(bearer, b"\x01")
    assert isinstance(rejected, Rejected)
    assert rejected.message == INVALID


def test_a_session_ends_with_its_token() -> None:
    token = sasl.bearer(ISSUER.token(scope="write"))
    assert step(BearerExchange(JUDGE), token) == Accepted("alice", b"", 3630.0)
    assert step(BearerExchange(JUDGE), token.replace(b"n,,", b"n,a=alice,")) == Accepted("alice", b"", 3630.0)
    assert isinstance(step(BearerExchange(JUDGE), token.replace(b"n,,", b"n,a=bob,")), Rejected)


@given(data=st.binary(max_size=200) | st.text(max_size=60).map(lambda text: sasl.bearer(text)))
def test_any_bytes_are_refused_without_an_error(data: bytes) -> None:
    for validate in (JUDGE, UNSECURED):
        bearer = BearerExchange(validate)
        assert not isinstance(step(bearer, data), Accepted)
        assert isinstance(step(bearer, data), Rejected)


def test_a_claim_that_is_there_twice_is_refused_though_the_signature_holds() -> None:
    payload = b'{"sub": "alice", "sub": "admin", "exp": %d}' % (NOW + 60)
    protected = {"alg": ISSUER.algorithm, "kid": ISSUER.key.kid}
    token = jws.serialize_compact(protected, payload, ISSUER.key, algorithms=[ISSUER.algorithm])
    assert (
        why(token, TokenValidator(lambda: ISSUER.keys, clock=lambda: NOW))
        == "a token with a member that is there twice"
    )


def test_a_message_that_is_none_of_oauthbearers_is_refused_as_brokers_do() -> None:
    message = "Authentication failed during {} due to invalid credentials with SASL mechanism OAUTHBEARER"
    twice = sasl.bearer(ISSUER.token(scope="write"))[:-1] + b"auth=Bearer x\x01\x01"
    why = "a key that is there twice, or that looks like another"
    assert step(BearerExchange(JUDGE), twice) == Rejected(message.format("authentication"), why)
    assert step(BearerExchange(JUDGE, again=True), twice) == Rejected(message.format("re-authentication"), why)


def test_a_client_that_was_refused_cannot_come_with_another_token() -> None:
    bearer = BearerExchange(JUDGE)
    assert isinstance(step(bearer, sasl.bearer(OTHER.token(scope="write"))), Challenge)
    assert isinstance(step(bearer, sasl.bearer(ISSUER.token(scope="write"))), Rejected)


def test_nothing_of_a_token_is_read_before_its_signature_was_verified() -> None:
    forged = OTHER.sign(b'{"alg":"ES256","kid":"k1"}', b"no JSON")
    assert why(forged).startswith("a token that does not hold")
    assert why(ISSUER.sign(b'{"alg":"ES256","kid":"k1"}', b"no JSON")) == "a token that is not JSON"


def test_a_long_header_is_refused() -> None:
    header = json.dumps({"alg": "ES256", "kid": "k1", "x": "x" * 12_300}).encode()
    assert why(ISSUER.sign(header, b"{}")) == "a token with a header of 16,451 bytes, over the limit of 16,384"


def test_the_others_have_their_turn_before_a_token_is_checked() -> None:
    steps = BearerExchange(JUDGE).step(sasl.bearer(ISSUER.token(scope="write")))
    assert next(steps) is TURN
    with pytest.raises(StopIteration):
        next(BearerExchange(JUDGE).step(b"x" * 100_000))
