"""OAUTHBEARER: whose token it is, by the keys of whoever issues them (RFC 7628, RFC 7519).

Rules:
* A token counts when its signature fits a key that is known now, it is from the issuer, for the audience, with the
  scope, and neither over nor not yet begun, give or take `skew`. It must say when it ends: the session ends then too.
* Only asymmetric algorithms: a key that everybody may read must not be taken for a shared secret.
* Without a signature a token counts only where the configuration says `unsecured`.
* A key that is not known may be a new one: `missing` is told, and the client comes again.
* A client that is refused is told `invalid_token`, and gets the error after it has answered that, as with a broker.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, TypeGuard

from joserfc import jws, jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from proxy.core.sasl import Accepted, Challenge, Outcome, Rejected
from proxy.core.tokens import bearer

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
INVALID = '{"status":"invalid_token"}'
LONGEST = 64 << 10  # characters of a token
Claims = dict[str, Any]


class TokenError(Exception):
    """A token that does not count; why, for the log, without anything of the token."""


@dataclass(frozen=True)
class Judge:
    """What makes a token count. `keys` None: no signature is asked for."""

    keys: Callable[[], KeySet] | None
    issuer: str | None = None
    audience: Collection[str] = ()
    scope: Collection[str] = ()
    skew: float = 30.0
    claim: str = "sub"
    missing: Callable[[], None] = lambda: None
    clock: Callable[[], float] = time.time

    def judge(self, token: str) -> tuple[str, float]:
        """Whose it is, and for how many seconds more. Raises TokenError."""
        claims = self._claims(token)
        now, ends = self.clock(), claims.get("exp")
        if not _is_time(ends):
            raise TokenError("a token without an end")
        if ends + self.skew <= now:
            raise TokenError("an expired token")
        for name in ("nbf", "iat"):
            if name in claims and not (_is_time(claims[name]) and claims[name] - self.skew <= now):
                raise TokenError("a token that is not valid yet")
        if self.issuer is not None and claims.get("iss") != self.issuer:
            raise TokenError("a token of another issuer")
        if self.audience and not set(self.audience) & set(_words(claims.get("aud"), split=False)):
            raise TokenError("a token for another audience")
        if not set(self.scope) <= set(_words(claims.get("scope", claims.get("scp")))):
            raise TokenError("a token without the scope")
        subject = claims.get(self.claim)
        if not isinstance(subject, str) or not subject.strip():
            raise TokenError(f"a token without the claim {self.claim}")
        return subject, max(ends + self.skew - now, 0.001)

    def _claims(self, token: str) -> Claims:
        if len(token) > LONGEST:
            raise TokenError("a token that is too long")
        if self.keys is None:
            return _unsecured(token)
        keys = self.keys()
        try:
            kid = jws.extract_compact(token.encode()).headers().get("kid")
            if kid is not None and all(key.kid != kid for key in keys.keys):
                self.missing()
                raise TokenError("a token by an unknown key")
            return dict(jwt.decode(token, keys, algorithms=list(ALGORITHMS)).claims)
        except (JoseError, ValueError, TypeError, KeyError, RecursionError) as error:
            raise TokenError(f"a token that does not hold ({type(error).__name__})") from None


def _unsecured(token: str) -> Claims:
    try:
        header, payload, signature = token.split(".")
        if signature or json.loads(_decoded(header)).get("alg") != "none":
            raise TokenError("a token with a signature where none can be checked")
        claims = json.loads(_decoded(payload))
    except (ValueError, AttributeError, RecursionError):
        raise TokenError("no token at all") from None
    if not isinstance(claims, dict):
        raise TokenError("no token at all")
    return claims


def _decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def _is_time(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15


def _words(value: object, split: bool = True) -> list[str]:
    if isinstance(value, str):
        return value.split() if split else [value]
    return [word for word in value if isinstance(word, str)] if isinstance(value, list) else []


class Bearer:
    """One authentication by a token."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._rejected: Rejected | None = None

    def step(self, token: bytes) -> Outcome:
        """The token; or, where that was refused, the client's word that it has understood."""
        if self._rejected is not None:
            return self._rejected
        try:
            carried = bearer(token)
            if carried is None:
                raise TokenError("no token at all")
            user, lifetime = self._judge.judge(carried)
            authorization = token.partition(b"\x01")[0].split(b",")[1:2]
            if authorization not in ([b""], [b"a=" + user.encode()]):
                raise TokenError("another authorization id than the token's")
        except TokenError as error:
            self._rejected = Rejected(INVALID, str(error))
            return Challenge(INVALID.encode())
        return Accepted(user, b"", lifetime)
