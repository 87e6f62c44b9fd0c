"""PLAIN: a name and a password (RFC 4616): `authorization id NUL user NUL password`.

Rules:
* The authorization id is empty or equal to the user: Kafka takes no other.
* There are two NULs, no more. Some releases of Kafka drop what follows a third.
"""

from __future__ import annotations

from typing import NamedTuple

from proxy.core.sasl.name import LONGEST, ClaimError, name, text

FIELDS = 3
OTHER_AUTHORIZATION = "Authentication failed: Client requested an authorization id that is different from username"


class PlainMessage(NamedTuple):
    """A client's name and password. The password is not checked."""

    user: str
    password: str


def plain(token: bytes, longest_password: int = LONGEST) -> PlainMessage:
    """The one message there is. Raises ClaimError."""
    if len(token) > 2 * (LONGEST + 1) + longest_password:
        raise ClaimError(f"a message of {len(token):,} bytes")
    fields = token.split(b"\0")
    if len(fields) != FIELDS:
        raise ClaimError(f"{len(fields)} fields where PLAIN has {FIELDS}")
    authorization, user, password = fields
    said = PlainMessage(name(user), text(password, "password", longest_password))
    if authorization not in (b"", user):
        raise ClaimError("another authorization id than the user", OTHER_AUTHORIZATION)
    return said
