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
import unicodedata
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any, NamedTuple

from scramp import ScramMechanism
from scramp.utils import ScramException, saslprep

from proxy.core.sasl.name import LONGEST
from proxy.core.sasl.scram import ITERATIONS

MECHANISMS = ("SCRAM-SHA-256", "SCRAM-SHA-512")
SALT_BYTES = 20
ALIKE = 1_000  # users among whom one is picked; going to one among 160,000 took 1 ms
HASHES: dict[str, Callable[[bytes], Any]] = {"SCRAM-SHA-256": hashlib.sha256, "SCRAM-SHA-512": hashlib.sha512}
_OURS = secrets.token_bytes(32)  # makes the salt of an unknown user unpredictable if there are no users


class Verifier(NamedTuple):
    """What is stored of a password for one mechanism. `salt` and the keys are bytes."""

    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int


def verifiers(password: str, iterations: int = ITERATIONS) -> dict[str, Verifier]:
    """The verifiers of a password. Raises ValueError if no client could send that password (RFC 4013, LONGEST)."""
    if len(password.encode(errors="replace")) > LONGEST:
        raise ValueError(f"it has more than {LONGEST:,} bytes")
    salt = secrets.token_bytes(SALT_BYTES)
    try:
        return {name: Verifier(*ScramMechanism(name).make_auth_info(password, iterations, salt)) for name in MECHANISMS}
    except ScramException as error:
        raise ValueError(str(error)) from None


def nobodys(user: str, mechanism: str, users: Mapping[str, Mapping[str, Verifier]]) -> Verifier:
    """The verifier of a user who does not exist. It is derived from a secret of `users`, which all processes have."""
    secret = next(iter(users.values()))[mechanism].server_key if users else _OURS
    seed = hmac.digest(secret, f"{mechanism} {user}".encode(errors="replace"), "sha512")
    place = int.from_bytes(hashlib.sha512(seed + b"alike").digest()) % min(max(len(users), 1), ALIKE)
    alike = next(islice(users.values(), place, None), None)
    iterations = ITERATIONS if alike is None else alike[mechanism].iterations
    size = HASHES[mechanism](b"").digest_size
    return Verifier(seed[:SALT_BYTES], hashlib.sha512(seed + b"stored").digest()[:size], seed[:size], iterations)


def fits(password: str, verifier: Verifier, mechanism: str) -> bool:
    """Is this the password? The time that the check takes does not depend on the answer."""
    prepared = _prepared(password)
    hashed = HASHES[mechanism]
    name = hashed(b"").name
    salted = hashlib.pbkdf2_hmac(name, prepared.encode(), verifier.salt, verifier.iterations)
    client_key = hmac.digest(salted, b"Client Key", name)
    return hmac.compare_digest(hashed(client_key).digest(), verifier.stored_key)


def _prepared(password: str) -> str:
    """The password as RFC 4013 prepares it, at 5 us a character.

    If no client could send it, the result is "", which no verifier fits.
    """
    if password.isascii() and password.isprintable():
        return password
    if len(unicodedata.normalize("NFKC", password)) > LONGEST:  # one character may become 18
        return ""
    try:
        return str(saslprep(password))
    except ScramException:
        return ""
