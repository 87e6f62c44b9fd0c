"""PLAIN messages: what they contain, and what is refused."""

import pytest

from proxy.core.sasl.bearer import LONGEST_TOKEN
from proxy.core.sasl.name import LONGEST, ClaimError
from proxy.core.sasl.plain import OTHER_AUTHORIZATION, PlainMessage, plain
from tests.proxy.core.sasl.odd import LONG, OTHER, PLAIN


@pytest.mark.parametrize(
    ("token", "said"),
    [
        (b"\0alice\0secret", PlainMessage("alice", "secret")),
        (b"alice\0alice\0secret", PlainMessage("alice", "secret")),
        ("\0zoë\0 pässword ".encode(), PlainMessage("zoë", " pässword ")),
        (b"\0a\0" + b"p" * LONGEST, PlainMessage("a", "p" * LONGEST)),
    ],
)
def test_it_is_a_name_and_a_password(token: bytes, said: PlainMessage) -> None:
    assert plain(token) == said


def test_a_password_may_be_a_token_where_nothing_is_computed_of_it() -> None:
    assert plain(b"a\0a\0" + b"p" * LONGEST_TOKEN, LONGEST_TOKEN).password == "p" * LONGEST_TOKEN
    with pytest.raises(ClaimError, match="a password of 65,537 bytes, over the limit of 65,536"):
        plain(b"\0a\0" + b"p" * (LONGEST_TOKEN + 1), LONGEST_TOKEN)
    with pytest.raises(ClaimError, match="a name of 1,025 bytes"):
        plain(b"\0" + b"a" * (LONGEST + 1) + b"\0p", LONGEST_TOKEN)


@pytest.mark.parametrize(
    ("token", "why"), [*PLAIN, (b"\0alice\0" + LONG, "a password of 1,025 bytes, over the limit of 1,024")]
)
def test_an_odd_token_is_refused(token: bytes, why: str) -> None:
    with pytest.raises(ClaimError) as raised:
        plain(token)
    assert str(raised.value) == why
    assert raised.value.told == (OTHER_AUTHORIZATION if why == OTHER else None)
