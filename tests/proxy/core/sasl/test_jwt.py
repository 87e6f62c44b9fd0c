"""JWTs: what they contain, and what is refused."""

import pytest

from proxy.core.sasl.jwt import is_jwt, jwt, subject
from proxy.core.sasl.name import ClaimError
from tests.proxy.core.sasl.odd import ALICE, JWT, token


def test_a_token_says_whose_it_is() -> None:
    said = jwt(ALICE)
    assert (said.header, said.claims, said.is_signed) == ({"alg": "ES256"}, {"sub": "alice"}, True)
    assert subject(said.claims, "sub") == "alice"


def test_it_may_say_so_in_another_claim() -> None:
    claims = jwt(token({"sub": "x", "client": "zoë 😀", "exp": 1.5, "aud": ["a", "b"], "roles": [{"a": 1}]})).claims
    assert subject(claims, "client") == "zoë 😀"


def test_a_token_without_a_signature_says_so() -> None:
    assert not jwt(token({"sub": "alice"}, {"alg": "none"}, "")).is_signed


@pytest.mark.parametrize(("odd", "why"), JWT)
def test_an_odd_token_is_refused(odd: str, why: str) -> None:
    with pytest.raises(ClaimError) as raised:
        subject(jwt(odd).claims, "sub")
    assert str(raised.value) == why


def test_other_tokens_are_told_from_those_of_their_kind() -> None:
    assert is_jwt(ALICE)
    assert not is_jwt("opaque-token_7")
