"""Speakers: the client's half of each SASL mechanism, which the proxy speaks to brokers.

Rules:
* A broker must prove itself where the mechanism provides for it: a SCRAM broker that does not know the password is
  refused.
* A SCRAM broker chooses how many rounds of hashing we compute. One that asks for fewer than Kafka's clients accept, or
  for far more than Kafka's own tools allow, is refused.
* A name or a password that the mechanism has no form for is a LoginError, which does not repeat it.
* Names and passwords are sent and hashed as they are (`scram_keys.py`).
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from hmac import compare_digest
from secrets import token_bytes
from typing import Protocol

from proxy.auth.scram_keys import combined, scram_keys, signature
from proxy.core.sasl.scram import ITERATIONS, NONCE

MOST_ROUNDS = 100_000  # KIP-554 allows 16,384; the tools before it set no bound
LONGEST = 8 << 10  # bytes of a broker's token; one of Kafka has about a hundred
HEADER = b"n,,"  # of a SCRAM message: no channel binding, and no other authorization id
NONCE_BYTES = 24
# A broker's first message: nonce, salt, rounds, and extensions, of which those that begin with "m" would come first.
BASE64 = rb"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"
CHALLENGE = re.compile(rb"r=(%b),s=(%b),i=(\d{1,10})(?:,.*)?" % (NONCE, BASE64))


class LoginError(Exception):
    """The broker refused to authenticate us, or cannot be trusted. Its text says why, in a few words."""


class Speaker(Protocol):
    """The client's half of one authentication."""

    @property
    def computes(self) -> bool:
        """Do answers take long?"""

    def first(self) -> bytes:
        """The first token. Raises LoginError if there is none."""

    def answer(self, token: bytes) -> bytes | None:
        """The response to the broker's token. None: nothing more is to be sent. Raises LoginError."""


def _must_be_sendable(mechanism: str, user: str, password: str) -> None:
    if not user or not password or "\0" in user + password:  # PLAIN separates them by a NUL
        raise LoginError(f"{mechanism} cannot send our name or password: it is empty, or has a NUL")


class ByPlain:
    """A name and a password, sent in clear (PLAIN)."""

    computes = False

    def __init__(self, user: str, password: str) -> None:
        _must_be_sendable("PLAIN", user, password)
        self._token = b"\0".join((b"", user.encode(), password.encode()))

    def first(self) -> bytes:
        """The name and the password: the only token there is."""
        return self._token

    def answer(self, token: bytes) -> None:
        """None: nothing follows."""


class ByScram:
    """A name, and a proof that we know the password (SCRAM)."""

    computes = True  # 16,384 rounds take 10 ms, and the most that are computed 60

    def __init__(self, mechanism: str, user: str, password: str) -> None:
        _must_be_sendable(mechanism, user, password)
        self._mechanism = mechanism
        self._password = password
        self._nonce = b64encode(token_bytes(NONCE_BYTES))
        name = user.encode().replace(b"=", b"=3D").replace(b",", b"=2C")
        self._bare = b"n=%b,r=%b" % (name, self._nonce)
        self._proved: bytes | None = None  # what the broker must send to prove that it knows the password too

    def first(self) -> bytes:
        """The client's first message, with the name."""
        return HEADER + self._bare

    def answer(self, token: bytes) -> bytes | None:
        """Our proof. After the next token, None: that is the broker's proof, which is checked."""
        if len(token) > LONGEST:
            raise LoginError(f"the broker answered SCRAM with {len(token):,} bytes")
        if self._proved is None:
            return self._prove(token)
        if not compare_digest(token.partition(b",")[0], self._proved):
            raise LoginError("the broker could not prove that it knows the password")
        return None

    def _prove(self, token: bytes) -> bytes:
        found = CHALLENGE.fullmatch(token)
        if found is None or not found[1].startswith(self._nonce) or found[1] == self._nonce:
            raise LoginError("the broker's first message is not SCRAM's, or not an answer to ours")
        nonce, salt, rounds = found[1], b64decode(found[2]), int(found[3])
        if not ITERATIONS <= rounds <= MOST_ROUNDS:
            taken = f"{ITERATIONS:,} to {MOST_ROUNDS:,} are computed"
            raise LoginError(f"the broker asks for {rounds:,} rounds of hashing; {taken}")
        mechanism, final = self._mechanism, b"c=%b,r=%b" % (b64encode(HEADER), nonce)
        keys, signed = scram_keys(mechanism, self._password, salt, rounds), (self._bare, token, final)
        self._proved = b"v=" + b64encode(signature(mechanism, keys.server, *signed))
        return b"%b,p=%b" % (final, b64encode(combined(keys.client, signature(mechanism, keys.stored, *signed))))


class ByBearer:
    """A bearer token (RFC 7628)."""

    computes = False

    def __init__(self, token: str) -> None:
        self._token = token

    def first(self) -> bytes:
        """The client's first message, with the token."""
        return b"n,,\x01auth=Bearer " + self._token.encode() + b"\x01\x01"

    def answer(self, token: bytes) -> bytes | None:
        """None, or the acknowledgement of a refusal. The broker answers that with its error."""
        return b"\x01" if token else None
