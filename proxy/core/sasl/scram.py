"""SCRAM: the two messages of a client (RFC 5802), with the one extension that Kafka knows (KIP-48).

    n,[a=NAME],n=NAME,r=NONCE[,tokenauth=true]
    c=BASE64,r=NONCE,p=BASE64

Rules:
* The attributes come in this order, each once, and nothing follows. Channel binding is not spoken (no `y`, no `p=`).
* In a name a comma is `=2C`, an equals sign `=3D`; nothing else begins with an equals sign.
* The final message belongs to the first: it repeats its header and goes on from its nonce.
* With `tokenauth=true` the name is the id of a delegation token; only the broker knows whose it is.
"""

from __future__ import annotations

import base64
import re
from typing import NamedTuple

from proxy.core.sasl.name import LONGEST, ClaimError, name
from proxy.core.sasl.plain import OTHER_AUTHORIZATION

ITERATIONS = 4_096  # rounds of hashing: the minimum of RFC 7677, and Kafka's own value; its clients refuse fewer
MOST_ITERATIONS = 16_384  # Kafka's maximum for a password (KIP-554)
PROOF = {"SCRAM-SHA-256": 32, "SCRAM-SHA-512": 64}  # bytes
SASL_NAME = rb"(?:[^\0=,]|=2C|=3D)+"
NONCE = rb"[\x21-\x2b\x2d-\x7e]+"
_FIRST = re.compile(rb"(n,(?:a=(%b))?,)(n=(%b),r=(%b)(,tokenauth=true)?)" % (SASL_NAME, SASL_NAME, NONCE))
_FINAL = re.compile(rb"(c=([A-Za-z0-9+/=]+),r=(%b)),p=([A-Za-z0-9+/=]+)" % NONCE)


class ClientFirst(NamedTuple):
    """A client's first message. `header` and `bare` are its two parts, as they came."""

    user: str
    is_token: bool
    nonce: bytes
    header: bytes
    bare: bytes


class ClientFinal(NamedTuple):
    """A client's final message. `without_proof` is all of it before the proof, as it came."""

    nonce: bytes
    proof: bytes
    without_proof: bytes


def sasl_name(data: bytes) -> str:
    """A name as it stands in a message. Raises ClaimError."""
    return name(data.replace(b"=2C", b",").replace(b"=3D", b"="))


def first(token: bytes) -> ClientFirst:
    """The first message. Raises ClaimError."""
    if len(token) > 8 * LONGEST:
        raise ClaimError(f"a message of {len(token):,} bytes")
    found = _FIRST.fullmatch(token)
    if found is None:
        raise ClaimError("a message that is not SCRAM's first")
    header, authorization, bare, said, nonce, is_token = found.groups()
    user = sasl_name(said)
    if authorization is not None and authorization != said:
        raise ClaimError("another authorization id than the user", OTHER_AUTHORIZATION)
    return ClientFirst(user, is_token is not None, _nonce(nonce), header, bare)


def final(token: bytes, begun: ClientFirst, mechanism: str) -> ClientFinal:
    """The final message after that first one. Raises ClaimError."""
    if len(token) > 8 * LONGEST:
        raise ClaimError(f"a message of {len(token):,} bytes")
    found = _FINAL.fullmatch(token)
    if found is None:
        raise ClaimError("a message that is not SCRAM's final")
    without_proof, channel, nonce, proof = found.groups()
    if channel != base64.b64encode(begun.header):
        raise ClaimError("another header than that of the first message")
    if not nonce.startswith(begun.nonce) or nonce == begun.nonce:
        raise ClaimError("another nonce than that of the first message")
    return ClientFinal(nonce, _proof(proof, PROOF[mechanism]), without_proof)


def _nonce(data: bytes) -> bytes:
    if len(data) > LONGEST:
        raise ClaimError(f"a nonce of {len(data):,} bytes, over the limit of {LONGEST:,}")
    return data


def _proof(data: bytes, size: int) -> bytes:
    try:
        proof = base64.b64decode(data, validate=True)
    except ValueError:
        proof = b""
    if len(proof) != size or base64.b64encode(proof) != data:
        raise ClaimError("a proof of another size, or in another base64")
    return proof
