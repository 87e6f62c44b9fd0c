"""OAUTHBEARER: the first message of a client (RFC 7628), and the token in it.

    n,[a=NAME],^A auth=Bearer TOKEN^A [KEY=VALUE^A ...] ^A

Rules:
* Each key occurs once. Kafka takes the last of two `auth`, others take the first.
* Keys other than `auth` are extensions (KIP-342): they say nothing about who the client is. None may look like `auth`.
* A token has the characters that Kafka takes: those of a JWT, and no others that RFC 6750 allows.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from proxy.core.sasl.name import LONGEST, ClaimError
from proxy.core.sasl.scram import SASL_NAME, sasl_name

LONGEST_TOKEN = 64 << 10  # bytes
LONGEST_MESSAGE = LONGEST_TOKEN + 8 * LONGEST
AGAIN = b"\x01"  # the answer of a client that was told why its token is refused
_FIRST = re.compile(rb"n,(?:a=(%b))?,\x01((?:[A-Za-z]+=[\x20-\x7e\t\r\n]+\x01)+)\x01" % SASL_NAME)
_AUTH = re.compile(rb"bearer ([-_.A-Za-z0-9]+)", re.IGNORECASE)


class BearerMessage(NamedTuple):
    """A client's token, and the name under which it wants to act (None: the token's)."""

    token: str
    authorization: str | None


def bearer(message: bytes) -> BearerMessage:
    """The first message. Raises ClaimError."""
    if len(message) > LONGEST_MESSAGE:
        raise ClaimError(f"a message of {len(message):,} bytes")
    found = _FIRST.fullmatch(message)
    if found is None:
        raise ClaimError("a message that is not OAUTHBEARER's first")
    authorization, pairs = found.groups()
    values: dict[bytes, bytes] = {}
    for pair in pairs[:-1].split(b"\x01"):
        key, _, value = pair.partition(b"=")
        if key in values or key.lower() == b"auth" != key:
            raise ClaimError("a key that is there twice, or that looks like another")
        values[key] = value
    auth = _AUTH.fullmatch(values.get(b"auth", b""))
    if auth is None:
        raise ClaimError("no bearer token")
    if len(auth[1]) > LONGEST_TOKEN:
        raise ClaimError(f"a token of {len(auth[1]):,} bytes, over the limit of {LONGEST_TOKEN:,}")
    return BearerMessage(auth[1].decode(), None if authorization is None else sasl_name(authorization))
