"""GSSAPI: the tokens of a client, as Kerberos makes them; nothing else is one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.core.sasl.gssapi import GssapiToken, gssapi
from proxy.core.sasl.name import ClaimError
from proxy.protocol.api import APIS
from tests.plugins.sasl import AP_REQ, KERBEROS, WRAPPED

ORDER = (None, GssapiToken.AP_REQ, GssapiToken.EMPTY, GssapiToken.WRAPPED)


def framed(inner: bytes, length: bytes | None = None, kind: bytes = KERBEROS) -> bytes:
    whole = kind + inner
    return b"\x60" + (bytes((len(whole),)) if length is None else length) + whole


OLD_WRAP = framed(b"\2\1" + b"k" * 40)
TOKENS = {
    AP_REQ: GssapiToken.AP_REQ,
    b"": GssapiToken.EMPTY,
    WRAPPED: GssapiToken.WRAPPED,
    OLD_WRAP: GssapiToken.WRAPPED,
}
ODD = {
    "another mechanism": framed(b"\1\0kkkk", kind=bytes.fromhex("06062b0601050502")),
    "an answer of a server": framed(b"\2\0kkkk"),
    "an error": framed(b"\3\0kkkk"),
    "nothing inside": framed(b""),
    "a length that is too small": framed(b"\1\0kkkk", b"\x10"),
    "a length that is too large": framed(b"\1\0kkkk", b"\x20"),
    "a length in more bytes than it needs": framed(b"\1\0kkkk", b"\x81\x11"),
    "a length without an end": framed(b"\1\0kkkk", b"\x80"),
    "a length of 127 bytes": framed(b"\1\0kkkk", b"\xff"),
    "a wrapped token of a server": WRAPPED[:2] + b"\5" + WRAPPED[3:],
    "a wrapped token with odd flags": WRAPPED[:2] + b"\x0c" + WRAPPED[3:],
    "a wrapped token without filler": WRAPPED[:3] + b"\0" + WRAPPED[4:],
    "a wrapped token with nothing inside": WRAPPED[:16],
    "a MIC": b"\4\4" + WRAPPED[2:],
    "one byte": b"\x60",
    "two bytes": b"\x60\x82",
}  # fmt: skip


@pytest.mark.parametrize(
    ("tokens", "passed"),
    [
        ([AP_REQ, WRAPPED], 2),
        ([AP_REQ, b"", WRAPPED], 3),
        ([framed(b"\1\0kkkk"), OLD_WRAP], 2),
        ([b""], 0),
        ([WRAPPED], 0),
        ([AP_REQ, AP_REQ], 1),
        ([AP_REQ, b"", b""], 2),
        ([AP_REQ, WRAPPED, b""], 2),
        ([AP_REQ, WRAPPED, WRAPPED], 2),
    ],
)
def test_the_tokens_come_in_one_order(tokens: list[bytes], passed: int) -> None:
    last: GssapiToken | None = None
    for token in tokens[:passed]:
        last = gssapi(token, last)
        assert last is TOKENS.get(token, GssapiToken.AP_REQ)
    for token in tokens[passed : passed + 1]:
        with pytest.raises(ClaimError):
            gssapi(token, last)


@pytest.mark.parametrize("size", [127, 128, 255, 256, 65_535, 65_536, 100_000])
def test_a_token_may_be_of_any_size(size: int) -> None:
    inner = b"\1\0" + bytes(size - len(KERBEROS) - 2)
    count = (size.bit_length() + 7) // 8
    length = bytes((size,)) if size < 128 else bytes((0x80 | count,)) + size.to_bytes(count)
    assert gssapi(framed(inner, length), None) is GssapiToken.AP_REQ
    for other in (size - 1, size + 1):
        odd = bytes((0x84,)) + other.to_bytes(4)
        with pytest.raises(ClaimError):
            gssapi(framed(inner, odd), None)


@pytest.mark.parametrize("token", ODD)
@pytest.mark.parametrize("before", ORDER)
def test_what_is_odd_is_no_token(token: str, before: GssapiToken | None) -> None:
    with pytest.raises(ClaimError):
        gssapi(ODD[token], before)


@pytest.mark.parametrize("before", ORDER)
@given(rest=st.binary(min_size=2), key=st.sampled_from([*APIS, 95, 96, 1_000, 0x0503, 0x0505, 0x7FFF, 0xFFFF]))
def test_no_request_is_a_token(before: GssapiToken | None, key: int, rest: bytes) -> None:
    with pytest.raises(ClaimError):
        gssapi(key.to_bytes(2) + rest, before)
