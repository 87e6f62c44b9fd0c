"""OAUTHBEARER: checks a token against the keys of its issuer, and finds its user (RFC 7628, RFC 7519).

Rules:
* A token is valid if its signature fits a key that is known now, and if it is from the issuer, for the audience and
  with the scope. It must not be expired or from the future, by more than `skew`. It must have an expiry time, which
  also ends the session.
* Only asymmetric algorithms are allowed: a public key must not be taken for a shared secret.
* A token without a signature is valid only if the configuration says `unsecured`.
* An unknown key may be a new one: `missing` is called, and the client is expected to try again.
* A token is checked with the first key for its algorithm that has the id which it names, or any id if it names none, as
  at a broker (jose4j's VerificationJwkSelector). An RSA key of less than 2,048 bits proves nothing, here and there.
* `core/sasl/jwt.py` alone reads a token's claims. The library only verifies the signature. Headers that the library
  does not know are ignored, as brokers do.
* Claims of 64 KiB take 3 ms to read. So they are read after the signature was verified, which takes up to 0.4 ms, and a
  token has a turn of its own.
* A refused client is sent `invalid_token`. After it has acknowledged that, it gets the error, as with a broker.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Generator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import Key, KeySet, RSAKey

from proxy.core.decisions import TURN
from proxy.core.sasl.authority import Accepted, Challenge, Rejected, StepResult, rejected
from proxy.core.sasl.bearer import LONGEST_MESSAGE, LONGEST_TOKEN, bearer
from proxy.core.sasl.jwt import SUBJECT, header_of, jwt, subject
from proxy.core.sasl.name import ClaimError

# The kind of key, and its curve, for each algorithm (RFC 7518, 3.1; RFC 8037, 3.1).
KINDS: Mapping[Any, tuple[str | None, str | None]] = {
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), ("RSA", None)),
    "ES256": ("EC", "P-256"),
    "ES384": ("EC", "P-384"),
    "ES512": ("EC", "P-521"),
    "EdDSA": ("OKP", None),
}
LONGEST_HEADER = 16 << 10  # bytes in base64
LEAST_RSA = 2_048  # bits (RFC 7518, 3.3)
INVALID = '{"status":"invalid_token"}'

TokenClaims = Mapping[str, Any]


class Signed(jws.JWSRegistry):
    """The library's limits: any length of token that `bearer` accepted, and any header that `jwt` accepted."""

    max_header_length = max_payload_length = max_signature_length = LONGEST_TOKEN


SIGNED = Signed(algorithms=list(KINDS), strict_check_header=False)


@dataclass(frozen=True)
class TokenValidator:
    """The conditions for a valid token. `keys` None: tokens have no signature."""

    keys: Callable[[], KeySet] | None
    issuer: str | None = None
    audience: Collection[str] = ()
    scope: Collection[str] = ()
    skew: float = 30.0
    claim: str = SUBJECT
    missing: Callable[[], None] = lambda: None
    clock: Callable[[], float] = time.time

    def validate(self, token: str) -> tuple[str, float]:
        """The user of a token, and the seconds until the token expires. Raises ClaimError."""
        claims = self._claims(token)
        now, ends = self.clock(), claims.get("exp")
        if ends is None:
            raise ClaimError("a token without an end")
        if ends + self.skew <= now:
            raise ClaimError("an expired token")
        if max(claims.get("nbf", 0), claims.get("iat", 0)) - self.skew > now:
            raise ClaimError("a token that is not valid yet")
        if self.issuer is not None and claims.get("iss") != self.issuer:
            raise ClaimError("a token of another issuer")
        if self.audience and not set(self.audience) & set(_words(claims.get("aud"), split=False)):
            raise ClaimError("a token for another audience")
        if not set(self.scope) <= set(_words(claims.get("scope", claims.get("scp")))):
            raise ClaimError("a token without the scope")
        return subject(claims, self.claim), max(ends + self.skew - now, 0.001)

    def _claims(self, token: str) -> TokenClaims:
        if self.keys is None:
            said = jwt(token)
            if said.is_signed or said.header["alg"] != "none":
                raise ClaimError("a token with a signature where none can be checked")
            return said.claims
        if token.find(".") > LONGEST_HEADER:
            raise ClaimError(
                f"a token with a header of {token.find('.'):,} bytes, over the limit of {LONGEST_HEADER:,}"
            )
        key = self._key(self.keys().keys, header_of(token))
        try:
            jws.deserialize_compact(token, key, registry=SIGNED)
        except (JoseError, ValueError, TypeError, KeyError, RecursionError) as error:
            raise ClaimError(f"a token that does not hold ({type(error).__name__})") from None
        return jwt(token).claims

    def _key(self, keys: Iterable[Key], header: Mapping[str, Any]) -> Key:
        """The key that a token with this header is checked with. Raises ClaimError."""
        kid = header.get("kid")
        named = [key for key in keys if kid in (None, key.kid)]
        if kid is not None and not named:
            self.missing()
            raise ClaimError("a token by an unknown key")
        key = next((key for key in named if _fits(key, header)), None)
        if key is None:
            raise ClaimError("a token by an algorithm that no key is for")
        if isinstance(key, RSAKey) and key.public_key.key_size < LEAST_RSA:
            raise ClaimError(f"a token by an RSA key of {key.public_key.key_size:,} bits, under {LEAST_RSA:,}")
        return key


def _fits(key: Key, header: Mapping[str, Any]) -> bool:
    """Is this key for the algorithm in a token's header?"""
    algorithm = header["alg"]
    kind, curve = KINDS.get(algorithm, (None, None))
    said = key.key_type, key.get("crv") if curve else None, key.get("alg", algorithm), key.get("use", "sig")
    return said == (kind, curve, algorithm, "sig")


def _words(value: object, split: bool = True) -> list[str]:
    if isinstance(value, str):
        return value.split() if split else [value]
    return [word for word in value if isinstance(word, str)] if isinstance(value, list) else []


class BearerExchange:
    """One authentication by a token."""

    def __init__(self, validator: TokenValidator, again: bool = False) -> None:
        self._validator = validator
        self._again = again
        self._rejected: Rejected | None = None

    def step(self, token: bytes) -> Generator[None, None, StepResult]:
        """Check the token. If it was refused, the next token is the client's acknowledgement."""
        if self._rejected is not None:
            return self._rejected
        if len(token) <= LONGEST_MESSAGE:  # a longer one is refused at once, and not kept
            yield TURN
        try:
            said = bearer(token)
        except ClaimError as error:
            return rejected(error, "OAUTHBEARER", self._again)
        try:
            user, lifetime = self._validator.validate(said.token)
        except ClaimError as error:
            self._rejected = Rejected(INVALID, str(error))
            return Challenge(INVALID.encode())
        if said.authorization not in (None, user):
            return rejected(ClaimError("another authorization id than the token's"), "OAUTHBEARER", self._again)
        return Accepted(user, b"", lifetime)
