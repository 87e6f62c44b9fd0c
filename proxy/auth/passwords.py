"""PLAIN and SCRAM, checked against a credentials file.

Rules:
* A password is never stored or logged. The name in a failed attempt is logged only if that user exists, since people
  type passwords into the wrong field.
* Neither the answer nor its timing shows whether the user or the password was wrong: both cases do the same work.
* A PLAIN password takes 1 to 5 ms to check, so that is done in a thread. A step of SCRAM takes 30 us.
"""

from __future__ import annotations

import base64
import hmac
import secrets
from collections.abc import Callable, Generator
from functools import partial

from proxy.auth.scram_keys import combined, hashed, signature
from proxy.auth.users import Users
from proxy.auth.verifiers import Verifier, fits, nobodys
from proxy.core.decisions import Call
from proxy.core.sasl import scram
from proxy.core.sasl.authority import Accepted, Challenge, Rejected, StepResult, rejected
from proxy.core.sasl.name import ClaimError
from proxy.core.sasl.plain import plain

PresentUsers = Callable[[], Users]

PLAIN_HASH = "SCRAM-SHA-256"  # a PLAIN password is checked against this one of the user's verifiers
BAD = "Authentication failed: Invalid username or password"
WHY = "unknown user or wrong password"
NONCE_BYTES = 24


class PlainExchange:
    """One authentication with a user's name and password (RFC 4616)."""

    def __init__(self, users: PresentUsers, again: bool = False) -> None:
        self._users = users
        self._again = again

    def step(self, token: bytes) -> Generator[Call, StepResult, StepResult]:
        """Check the only token, which has the name and the password."""
        try:
            user, password = plain(token)
        except ClaimError as error:
            return rejected(error, "PLAIN", self._again)
        return (yield Call(partial(_checked, user, password, self._users()), apart="passwords"))


def _checked(user: str, password: str, users: Users) -> Accepted | Rejected:
    known = users.get(user)
    verifier = nobodys(user, PLAIN_HASH, users) if known is None else known[PLAIN_HASH]
    if not fits(password, verifier, PLAIN_HASH) or known is None:
        return Rejected(BAD, WHY, user if known is not None else None)
    return Accepted(user)


class ScramExchange:
    """One authentication that never shows the password (RFC 5802)."""

    def __init__(self, users: PresentUsers, mechanism: str, again: bool) -> None:
        self._users = users
        self._mechanism = mechanism
        self._again = again
        self._step: Callable[[bytes], StepResult] = self._first
        self._user: str | None = None  # the claimed name, if such a user exists

    def step(self, token: bytes) -> StepResult:
        """Check the client's first message, then its final one."""
        step, self._step = self._step, self._no_more
        try:
            return step(token)
        except ClaimError as error:
            return rejected(error, self._mechanism, self._again)._replace(user=self._user)

    def _no_more(self, token: bytes) -> StepResult:
        raise ClaimError("a token after the last")

    def _first(self, token: bytes) -> StepResult:
        first = scram.first(token)
        if first.is_token:
            raise ClaimError("a delegation token, which only brokers know")
        users = self._users()
        known = users.get(first.user)
        self._user = first.user if known is not None else None
        verifier = nobodys(first.user, self._mechanism, users) if known is None else known[self._mechanism]
        nonce = first.nonce + base64.b64encode(secrets.token_bytes(NONCE_BYTES))
        answer = b"r=%b,s=%b,i=%d" % (nonce, base64.b64encode(verifier.salt), verifier.iterations)
        self._step = partial(self._final, first, answer, verifier)
        return Challenge(answer)

    def _final(self, first: scram.ClientFirst, answer: bytes, verifier: Verifier, token: bytes) -> StepResult:
        final = scram.final(token, first, self._mechanism)
        if not answer.startswith(b"r=%b," % final.nonce):
            raise ClaimError("another nonce than ours")
        mechanism, signed = self._mechanism, (first.bare, answer, final.without_proof)
        client_key = combined(signature(mechanism, verifier.stored_key, *signed), final.proof)
        if not (hmac.compare_digest(hashed(mechanism, client_key), verifier.stored_key) and self._user):
            raise ClaimError(WHY)
        return Accepted(first.user, b"v=" + base64.b64encode(signature(mechanism, verifier.server_key, *signed)))
