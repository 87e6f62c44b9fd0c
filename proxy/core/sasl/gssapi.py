"""GSSAPI: the tokens of a client with Kerberos (RFC 4752), told from anything else by how they begin.

    AP-REQ    60 LENGTH 06 09 2A 86 48 86 F7 12 01 02 02 01 00 ...     the first token
    empty                                                              only after an AP-REQ that the server answered
    wrapped   05 04 FLAGS FF ... (RFC 4121)                            the last token
              60 LENGTH 06 09 2A 86 48 86 F7 12 01 02 02 02 01 ...     the same with older encryption (RFC 1964)

Rules:
* The tokens come in this order. After the wrapped one the server needs no more, and what follows are requests.
* LENGTH is that of all that follows, in the fewest bytes (RFC 2743). The object identifier is that of Kerberos: the
  mechanism GSSAPI stands for no other.
* No request of any API is such a token: its api key would be 0x60.. or 0x0504, and for 0x0504 its version over 254.
* What is in the tokens is encrypted. Only the broker knows who the client is.
"""

from __future__ import annotations

from enum import Enum, auto

from proxy.core.sasl.name import ClaimError

FIRST_BYTE = 0x60  # of an AP-REQ
_KERBEROS = bytes.fromhex("06092a864886f712010202")
_AP_REQ, _OLD_WRAP = b"\1\0", b"\2\1"
_WRAP = b"\5\4"
_WRAP_HEADER = 16  # bytes
_OF_CLIENTS = (0, 2, 4, 6)  # flags: 1 would be a server's
_LONG = 0x80  # from this length on, the first byte is this and the number of bytes of the length


class GssapiToken(Enum):
    """What a token of a client is."""

    AP_REQ = auto()
    EMPTY = auto()
    WRAPPED = auto()


_NEXT: dict[GssapiToken | None, tuple[GssapiToken, ...]] = {
    None: (GssapiToken.AP_REQ,),
    GssapiToken.AP_REQ: (GssapiToken.EMPTY, GssapiToken.WRAPPED),
    GssapiToken.EMPTY: (GssapiToken.WRAPPED,),
    GssapiToken.WRAPPED: (),
}


def gssapi(token: bytes, before: GssapiToken | None) -> GssapiToken:
    """What this token is; `before`: what the one before it was. Raises ClaimError: it is none that may come now."""
    found = _kind(token)
    if found not in _NEXT[before]:
        raise ClaimError("a message that is not GSSAPI's next")
    return found


def _kind(token: bytes) -> GssapiToken | None:
    if not token:
        return GssapiToken.EMPTY
    if token[:2] == _WRAP:
        is_wrapped = len(token) > _WRAP_HEADER and token[2] in _OF_CLIENTS and token[3] == 0xFF
        return GssapiToken.WRAPPED if is_wrapped else None
    return {_AP_REQ: GssapiToken.AP_REQ, _OLD_WRAP: GssapiToken.WRAPPED}.get(_inner(token)[:2])


def _inner(token: bytes) -> bytes:
    """What Kerberos put into a token with the frame of RFC 2743; empty where the token has no such frame."""
    start = 2 if token[1:2] < bytes((_LONG,)) else 2 + token[1] % _LONG
    head = bytes((FIRST_BYTE,)) + _length(len(token[start:])) + _KERBEROS
    return token[len(head) :] if token.startswith(head) else b""


def _length(length: int) -> bytes:
    if length < _LONG:
        return bytes((length,))
    size = (length.bit_length() + 7) // 8
    return bytes((_LONG | size,)) + length.to_bytes(size)
