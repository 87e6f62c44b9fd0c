"""Pseudonyms: what stands in a name's place, the same one each time, which only the key's owner can lead back.

# A pseudonym is an HMAC (RFC 2104) with SHA-256 of the kind of name and the name, cut to 128 bits: two names have the
# same one by chance as rarely as two UUIDs.
# Gateways with the same key give the same pseudonyms. Whoever destroys the key makes them anonymous for good.
"""

from __future__ import annotations

import hmac
import secrets
from hashlib import sha256
from pathlib import Path

from plugins.audit.keyfile import KeyFileError, made_once

SHORTEST = 32  # bytes of a key: as long as what SHA-256 gives
SHOWN = 32  # hexadecimal digits
MARK = "hmac-"


class Pseudonyms:
    """Made with one key."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    @property
    def id(self) -> str:
        """Stands for the key, and does not tell it: journals of one id have the same pseudonyms."""
        return self.of("key", "")[len(MARK) :][:16]

    def of(self, kind: str, name: str) -> str:
        """Of a name of this kind: a topic and a group that are called alike have two."""
        said = f"{kind}\0{name}".encode(errors="surrogatepass")
        return MARK + hmac.new(self._key, said, sha256).hexdigest()[:SHOWN]


def pseudonyms(file: Path, *, make: bool = False) -> Pseudonyms:
    """Those of the key in a file. `make`: it is made where there is none. Raises KeyFileError, OSError."""
    try:
        key = file.read_bytes().strip()
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
