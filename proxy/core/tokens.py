"""What the tokens of SASL mechanisms say, as far as they tell who it is. Read, never kept: secrets are in them.

Rules:
* A claim is what the client says; it counts once the broker said yes to it. How it says so is the mechanism's own:
  a PLAIN server answers with nothing, a SCRAM server with its signature (`v=`), an OAUTHBEARER one with nothing too.
* Who authenticates with a delegation token is known to the broker alone: the claim has the id of the token (KIP-48).
* GSSAPI passes: that it succeeded is seen, by the empty token with which Kafka's servers end it; who it was is not.
* So does a mechanism that is not known here. Each yes of the broker counts then, since nobody can tell the last one.

Sources: RFC 4616 (PLAIN), RFC 5802 (SCRAM), RFC 7628 (OAUTHBEARER), and what Kafka's own servers make of them.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

SCRAM = frozenset({"SCRAM-SHA-256", "SCRAM-SHA-512"})
_SASL_NAME = re.compile(r"=2C|=3D")
SUBJECT = "sub"


class Claim(NamedTuple):
    """Who a client says that it is. `user` None: that is known to the broker alone."""

    user: str | None
    delegation: str | None = None


NOBODY = Claim(None)


def plain(token: bytes) -> Claim:
    """The user of `authzid NUL authcid NUL password`; Kafka has no other authzid than the user itself."""
    parts = token.split(b"\0")
    return Claim(_text(parts[1])) if len(parts) == 3 else NOBODY


def scram(token: bytes) -> Claim:
    """The user of a client-first-message: `n,,n=alice,r=nonce`, with `tokenauth=true` the id of a delegation token."""
    attributes = [part.partition(b"=")[::2] for part in token.split(b",")[2:]]
    names = [value for name, value in attributes if name == b"n"]
    if len(names) != 1:
        return NOBODY
    user = _text(names[0])
    user = user and _SASL_NAME.sub(lambda match: "," if match[0] == "=2C" else "=", user)
    if any(name == b"tokenauth" and value.lower() == b"true" for name, value in attributes):
        return Claim(None, user)
    return Claim(user)


def bearer(token: bytes) -> str | None:
    """The bearer token in a client's first message: `n,a=authzid,` ^A `auth=Bearer ...` ^A ^A."""
    for pair in token.split(b"\x01")[1:]:
        key, _, value = pair.partition(b"=")
        scheme, _, credentials = value.strip().partition(b" ")
        if key == b"auth" and scheme.lower() == b"bearer":
            return _text(credentials.strip())
    return None


def oauthbearer(token: bytes, subject: str = SUBJECT) -> Claim:
    """The subject of a JWT, in the claim that brokers look at; its signature is their business."""
    parts = (bearer(token) or "").split(".")
    if len(parts) != 3:
        return NOBODY
    try:
        payload = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (ValueError, RecursionError, binascii.Error):
        return NOBODY
    user = payload.get(subject) if isinstance(payload, dict) else None
    return Claim(user) if isinstance(user, str) and user else NOBODY


def _text(data: bytes) -> str | None:
    try:
        return data.decode() or None
    except UnicodeDecodeError:
        return None


class Mechanism(NamedTuple):
    """How a mechanism is followed: who its first token claims to be, and whether a server's token says yes.

    `in_turn`: every token of the client gets one of the broker, also where tokens travel without headers.
    """

    claim: Callable[[bytes], Claim]
    accepted: Callable[[bytes], bool]
    in_turn: bool = True


FOLLOWED: dict[str, Mechanism] = {
    "PLAIN": Mechanism(plain, lambda token: True),
    **dict.fromkeys(SCRAM, Mechanism(scram, lambda token: token.startswith(b"v="))),
    "OAUTHBEARER": Mechanism(oauthbearer, lambda token: not token),
    "GSSAPI": Mechanism(lambda token: NOBODY, lambda token: not token, in_turn=False),
}


def following(subject: str) -> Mapping[str, Mechanism]:
    """The mechanisms, where tokens have their subject in this claim (Kafka's `sasl.oauthbearer.sub.claim.name`)."""
    return FOLLOWED | {"OAUTHBEARER": FOLLOWED["OAUTHBEARER"]._replace(claim=partial(oauthbearer, subject=subject))}


class Exchange:
    """One authentication as it passes by: tokens of the client and of the broker, in turn."""

    def __init__(self, mechanism: str, followed: Mapping[str, Mechanism] = FOLLOWED) -> None:
        self.mechanism = mechanism
        self.claim: Claim | None = None
        self._followed = followed.get(mechanism)

    @property
    def in_turn(self) -> bool:
        """Does every token of the client get one of the broker? In a mechanism unknown here the last may not."""
        return self._followed is not None and self._followed.in_turn

    def client(self, token: bytes) -> None:
        """A token of the client passes."""
        if self.claim is None:
            self.claim = self._followed.claim(token) if self._followed else NOBODY

    def broker(self, token: bytes) -> bool:
        """A token of the broker passes that says no error. Is the client authenticated?"""
        return self.claim is not None and (self._followed is None or self._followed.accepted(token))
