"""JWT: a token that says whose it is (RFC 7519, RFC 7515). Its signature is not verified here.

Rules:
* Three parts in base64url, each in its one canonical form; the first two are JSON objects in UTF-8.
* No member occurs twice, at any depth: one reader takes the first, another the last.
* No header may change what the payload is (RFC 7797, nested and encrypted tokens), and none may be one that a reader
  must understand (`crit`).
* A claim that RFC 7519 defines has the type that it defines. The subject is a name (`name.py`).
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

from proxy.core.sasl.name import ClaimError, name

SUBJECT = "sub"
PARTS = 3
TRANSFORMING = frozenset({"b64", "crit", "cty", "enc", "zip"})
STRINGS = frozenset({"iss", "sub", "jti"})
TIMES = frozenset({"exp", "nbf", "iat"})
FURTHEST = 1e12  # seconds since 1970: no time is beyond that
_BASE64URL = re.compile("[-_A-Za-z0-9]*")


class Jwt(NamedTuple):
    """A token: its two JSON objects. `is_signed`: it has a signature, valid or not."""

    header: Mapping[str, Any]
    claims: Mapping[str, Any]
    is_signed: bool


def is_jwt(token: str) -> bool:
    """Does the token look like a JWT? If not, only its issuer can read it."""
    return token.count(".") == PARTS - 1


def header_of(token: str) -> Mapping[str, Any]:
    """A token's header, which says how its signature is verified. Raises ClaimError."""
    if not is_jwt(token):
        raise ClaimError("a token that is no JWT")
    return _taken(_object(_decoded(token.partition(".")[0])))


def jwt(token: str) -> Jwt:
    """A token's header and claims. Raises ClaimError."""
    if not is_jwt(token):
        raise ClaimError("a token that is no JWT")
    parts = [_decoded(part) for part in token.split(".")]
    header, claims = _object(parts[0]), _object(parts[1])
    _taken(header)
    for claim in STRINGS & claims.keys():
        if not isinstance(claims[claim], str):
            raise ClaimError(f'a token whose claim "{claim}" is no text')
    for claim in TIMES & claims.keys():
        if not _is_time(claims[claim]):
            raise ClaimError(f'a token whose claim "{claim}" is no time')
    audience = claims.get("aud", [])
    if not isinstance(audience, str | list) or not all(isinstance(each, str) for each in audience):
        raise ClaimError('a token whose claim "aud" is no text')
    return Jwt(header, claims, parts[2] != b"")


def subject(claims: Mapping[str, Any], claim: str) -> str:
    """Whose token it is. Raises ClaimError."""
    found = claims.get(claim)
    if not isinstance(found, str):
        raise ClaimError(f'a token without a name in its claim "{claim}"')
    try:
        return name(found.encode())
    except UnicodeEncodeError:
        raise ClaimError("a token with half a character in its name") from None


def _taken(header: Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(header.get("alg"), str) or TRANSFORMING & header.keys():
        raise ClaimError("a token with a header that is not taken")
    return header


def _decoded(part: str) -> bytes:
    if _BASE64URL.fullmatch(part) is None or len(part) % 4 == 1:
        raise ClaimError("a token that is not in base64url")
    decoded = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    if base64.urlsafe_b64encode(decoded).decode().rstrip("=") != part:
        raise ClaimError("a token in another base64url than the canonical one")
    return decoded


def _object(data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data.decode(), object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise (error if isinstance(error, ClaimError) else ClaimError("a token that is not JSON")) from None
    if not isinstance(value, dict):
        raise ClaimError("a token that is no JSON object")
    return value


def _once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(members)
    if len(found) != len(members):
        raise ClaimError("a token with a member that is there twice")
    return found


def _no_number(constant: str) -> NoReturn:
    raise ClaimError("a token with a number that is none")


def _is_time(value: object) -> bool:
    """Seconds since 1970."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < FURTHEST
