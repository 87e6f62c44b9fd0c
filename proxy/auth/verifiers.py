"""Verifiers: what is stored of a password. A verifier can check the password, but not reveal it (RFC 5802).

Rules:
* There is one verifier for each SCRAM mechanism. Each can check a PLAIN password too.
* A user who does not exist has a verifier that no password fits. As a real one would be, it is the same for the same
  name in every process, and has as many rounds of hashing as the verifier of some user. So neither the answer nor its
  timing shows whether the user exists.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from itertools import islice
from typing import NamedTuple

from proxy.auth.scram_keys import hashed, scram_keys
from proxy.core.sasl.name import LONGEST
from proxy.core.sasl.scram import ITERATIONS

MECHANISMS = ("SCRAM-SHA-256", "SCRAM-SHA-512")
SALT_BYTES = 20
ALIKE = 1_000  # users among whom one is picked; going to one among 160,000 took 1 ms
_OURS = secrets.token_bytes(32)  # makes the salt of an unknown user unpredictable if there are no users


class Verifier(NamedTuple):
    """What is stored of a password for one mechanism. `salt` and the keys are bytes."""

    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int


def verifiers(password: str, iterations: int = ITERATIONS) -> dict[str, Verifier]:
    """The verifiers of a password. Raises ValueError if no client could send that password (RFC 4616, LONGEST)."""
    if not password or "\0" in password:
        raise ValueError("it is empty, or has a NUL")
    if len(password.encode()) > LONGEST:
        raise ValueError(f"it has more than {LONGEST:,} bytes")
    salt = secrets.token_bytes(SALT_BYTES)
    found = {}
    for mechanism in MECHANISMS:
        _, stored, server = scram_keys(mechanism, password, salt, iterations)
        found[mechanism] = Verifier(salt, stored, server, iterations)
    return found


def nobodys(user: str, mechanism: str, users: Mapping[str, Mapping[str, Verifier]]) -> Verifier:
    """The verifier of a user who does not exist. It is derived from a secret of `users`, which all processes have."""
    secret = next(iter(users.values()))[mechanism].server_key if users else _OURS
    seed = hmac.digest(secret, f"{mechanism} {user}".encode(errors="replace"), "sha512")
    place = int.from_bytes(hashlib.sha512(seed + b"alike").digest()) % min(max(len(users), 1), ALIKE)
    alike = next(islice(users.values(), place, None), None)
    iterations = ITERATIONS if alike is None else alike[mechanism].iterations
    size = len(hashed(mechanism, b""))
    return Verifier(seed[:SALT_BYTES], hashlib.sha512(seed + b"stored").digest()[:size], seed[:size], iterations)


def fits(password: str, verifier: Verifier, mechanism: str) -> bool:
    """Is this the password? The time that the check takes does not depend on the answer."""
    keys = scram_keys(mechanism, password, verifier.salt, verifier.iterations)
    return hmac.compare_digest(keys.stored, verifier.stored_key)
