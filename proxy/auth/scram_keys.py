"""SCRAM keys: what both sides compute of a password (RFC 5802, section 3).

Rules:
* A password is hashed as its bytes in UTF-8. Kafka's own classes and librdkafka do not prepare it (RFC 4013). If "x2"
  were made of "x²", clients with that password would be refused here, and we by brokers.
* Iterations are computed as they are given: the caller limits them.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from typing import Any, NamedTuple

HASHES: dict[str, Callable[[bytes], Any]] = {"SCRAM-SHA-256": hashlib.sha256, "SCRAM-SHA-512": hashlib.sha512}


class ScramKeys(NamedTuple):
    """The keys of one password. Who has the client key can authenticate; the other two only check that."""

    client: bytes
    stored: bytes
    server: bytes


def scram_keys(mechanism: str, password: str, salt: bytes, iterations: int) -> ScramKeys:
    """The keys of this password. Raises UnicodeEncodeError if it is no text."""
    name = hash_name(mechanism)
    salted = hashlib.pbkdf2_hmac(name, password.encode(), salt, iterations)
    client = hmac.digest(salted, b"Client Key", name)
    return ScramKeys(client, hashed(mechanism, client), hmac.digest(salted, b"Server Key", name))


def hash_name(mechanism: str) -> str:
    """The name of a mechanism's hash."""
    name: str = HASHES[mechanism](b"").name
    return name


def hashed(mechanism: str, data: bytes) -> bytes:
    """The hash of these bytes."""
    digest: bytes = HASHES[mechanism](data).digest()
    return digest


def signature(mechanism: str, key: bytes, *messages: bytes) -> bytes:
    """What proves the possession of this key: it is of all messages before the proof."""
    return hmac.digest(key, b",".join(messages), hash_name(mechanism))


def combined(one: bytes, other: bytes) -> bytes:
    """Both, bit by bit: a proof is a client key under its signature."""
    return bytes(a ^ b for a, b in zip(one, other, strict=True))
