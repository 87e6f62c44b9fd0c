"""Pseudonyms: a keyed hash in place of a name, the same each time. Only the owner of the key can find the name.

Rules:
* A pseudonym is an HMAC (RFC 2104) with SHA-256 of the kind of name and the name, cut to 128 bits. A collision is as
  unlikely as of two UUIDs.
* Gateways with the same key give the same pseudonyms. Without the key they are anonymous: destroying it makes them so
  for ever.
"""

from __future__ import annotations

import hmac
import secrets
from hashlib import sha256
from pathlib import Path

from plugins.audit.keyfile import KeyFileError, content_of, made_once

SHORTEST = 32  # bytes of a key, the length of a SHA-256 digest
SHOWN = 32  # hexadecimal digits
MARK = "hmac-"


class Pseudonyms:
    """The pseudonyms of one key."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    @property
    def id(self) -> str:
        """Identifies the key without revealing it: journals with the same id have the same pseudonyms."""
        return self.of("key", "")[len(MARK) :][:16]

    def of(self, kind: str, name: str) -> str:
        """The pseudonym of a name of this kind. A topic and a group of the same name have different ones."""
        said = f"{kind}\0{name}".encode(errors="surrogatepass")
        return MARK + hmac.new(self._key, said, sha256).hexdigest()[:SHOWN]


def pseudonyms(file: Path, *, make: bool = False) -> Pseudonyms:
    """The pseudonyms of the key in a file. `make`: the file is made if it is missing. Raises KeyFileError, OSError."""
    try:
        key = content_of(file).strip()
    except FileNotFoundError:
        if not make:
            raise
        key = made_once(file, secrets.token_hex(SHORTEST).encode() + b"\n").strip()
    if len(key) < SHORTEST:
        raise KeyFileError(
            f"{file}: a key of {len(key)} bytes is too short for pseudonyms, it needs {SHORTEST}; make one with "
            '"openssl rand -hex 32", or let the proxy make it'
        )
    return Pseudonyms(key)
