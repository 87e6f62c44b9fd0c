"""OAUTHBEARER messages: what they contain, and what is refused."""

import pytest

from proxy.core.sasl.bearer import LONGEST_TOKEN, BearerMessage, bearer
from proxy.core.sasl.name import ClaimError
from tests.proxy.core.sasl.odd import BEARER


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (b"n,,\x01auth=Bearer a.B-c_9\x01\x01", BearerMessage("a.B-c_9", None)),
        (b"n,,\x01auth=bearer abc\x01\x01", BearerMessage("abc", None)),
        (b"n,a=a=2Cb,\x01auth=Bearer abc\x01\x01", BearerMessage("abc", "a,b")),
        (b"n,,\x01auth=Bearer abc\x01traceId=1 2\x01logicalCluster=lkc-1\x01\x01", BearerMessage("abc", None)),
        (b"n,,\x01host=server.example.com\x01port=143\x01auth=Bearer abc\x01\x01", BearerMessage("abc", None)),
        (b"n,,\x01auth=Bearer %b\x01\x01" % (b"a" * LONGEST_TOKEN), BearerMessage("a" * LONGEST_TOKEN, None)),
    ],
)
def test_it_carries_a_token(message: bytes, said: BearerMessage) -> None:
    assert bearer(message) == said


@pytest.mark.parametrize(("message", "why"), BEARER)
def test_an_odd_message_is_refused(message: bytes, why: str) -> None:
    with pytest.raises(ClaimError) as raised:
        bearer(message)
    assert str(raised.value) == why
