"""Verifiers: what is stored of a password. It can be checked by them, not recovered from them (RFC 5802).

Rules:
* There is one verifier for each SCRAM mechanism; each checks a password of PLAIN too.
* For a user who does not exist there is a verifier that no password fits. It is the same for the same name,
  as a real one would be, so that neither answer nor time tells the two apart.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import unicodedata
from collections.abc import Callable
from typing import Any, NamedTuple

from scramp import ScramMechanism
from scramp.utils import ScramException, saslprep

from proxy.core.sasl.name import LONGEST

MECHANISMS = ("SCRAM-SHA-256", "SCRAM-SHA-512")
ITERATIONS = 4096  # RFC 7677's least, and Kafka's own
MOST_ITERATIONS = 16_384  # Kafka's most
SALT_BYTES = 20
HASHES: dict[str, Callable[[bytes], Any]] = {"SCRAM-SHA-256": hashlib.sha256, "SCRAM-SHA-512": hashlib.sha512}
_OURS = secrets.token_bytes(32)  # so that nobody can tell beforehand what an unknown user's salt will be


class Verifier(NamedTuple):
    """What one mechanism keeps of a password. `salt` and the keys are bytes."""

    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int


def verifiers(password: str, iterations: int = ITERATIONS) -> dict[str, Verifier]:
    """What is stored of a password. Raises ValueError where no client could send it (RFC 4013)."""
    salt = secrets.token_bytes(SALT_BYTES)
    try:
        return {name: Verifier(*ScramMechanism(name).make_auth_info(password, iterations, salt)) for name in MECHANISMS}
    except ScramException as error:
        raise ValueError(str(error)) from None


def nobodys(user: str, mechanism: str, iterations: int = ITERATIONS) -> Verifier:
    """The verifier of a user who does not exist."""
    seed = hmac.digest(_OURS, f"{mechanism} {user}".encode(errors="replace"), "sha512")
    size = HASHES[mechanism](b"").digest_size
    return Verifier(seed[:SALT_BYTES], hashlib.sha512(seed + b"stored").digest()[:size], seed[:size], iterations)


def fits(password: str, verifier: Verifier, mechanism: str) -> bool:
    """Is this the password? Takes as long whether it is or not."""
    prepared = _prepared(password)
    hashed = HASHES[mechanism]
    name = hashed(b"").name
    salted = hashlib.pbkdf2_hmac(name, prepared.encode(), verifier.salt, verifier.iterations)
    client_key = hmac.digest(salted, b"Client Key", name)
    return hmac.compare_digest(hashed(client_key).digest(), verifier.stored_key)


def _prepared(password: str) -> str:
    """As RFC 4013 has it, in Python at 5 us a character; "", which no verifier fits, for what no client could send."""
    if password.isascii() and password.isprintable():
        return password
    if len(unicodedata.normalize("NFKC", password)) > LONGEST:  # one character may become 18
        return ""
    try:
        return str(saslprep(password))
    except ScramException:
        return ""
