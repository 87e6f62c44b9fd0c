"""What PLAIN says, and what it must not."""

import pytest

from proxy.core.claims.name import LONGEST, ClaimError
from proxy.core.claims.plain import OTHER_AUTHORIZATION, Plain, plain
from tests.proxy.core.claims.odd import OTHER, PLAIN


@pytest.mark.parametrize(
    ("token", "said"),
    [
        (b"\0alice\0secret", Plain("alice", "secret")),
        (b"alice\0alice\0secret", Plain("alice", "secret")),
        ("\0zoë\0 pässword ".encode(), Plain("zoë", " pässword ")),
        (b"\0a\0" + b"p" * LONGEST, Plain("a", "p" * LONGEST)),
    ],
)
def test_it_is_a_name_and_a_password(token: bytes, said: Plain) -> None:
    assert plain(token) == said


@pytest.mark.parametrize(("token", "why"), PLAIN)
def test_an_odd_token_is_refused(token: bytes, why: str) -> None:
    with pytest.raises(ClaimError) as raised:
        plain(token)
    assert str(raised.value) == why
    assert raised.value.told == (OTHER_AUTHORIZATION if why == OTHER else None)
