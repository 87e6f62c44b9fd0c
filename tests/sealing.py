"""Records of a TLS client that no library would write, sealed by hand.

Rules:
* `context.keylog_filename` has the client's library note the secrets of its handshake; they are read from that file.
* Records are numbered from the end of the handshake on, so the library itself must not write after it.
* Only AES-256-GCM with SHA-384 is known here, which OpenSSL prefers.
"""

from __future__ import annotations

import hmac
from pathlib import Path
from struct import Struct

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA384
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

HANDSHAKE, DATA = 22, 23  # types of records
HEAD = Struct("!BHH")  # type, version, length
TLS12 = 0x0303  # the version in all records
TAG = 16


class Sealer13:
    """Seals what a client of TLS 1.3 sends after its handshake."""

    def __init__(self, secrets: Path) -> None:
        self._use(_noted(secrets, "CLIENT_TRAFFIC_SECRET_0"))

    def _use(self, secret: bytes) -> None:
        self._secret, self._number = secret, 0
        self._key = AESGCM(_expanded(secret, b"key", 32))
        self._iv = int.from_bytes(_expanded(secret, b"iv", 12), "big")

    def record(self, data: bytes, kind: int = DATA) -> bytes:
        """One record with this in it."""
        head = HEAD.pack(DATA, TLS12, len(data) + 1 + TAG)
        nonce = (self._iv ^ self._number).to_bytes(12, "big")
        self._number += 1
        return head + self._key.encrypt(nonce, data + bytes([kind]), head)

    def key_update(self, *, asks: bool = False) -> bytes:
        """A message that the key changes; `asks`: the other side is to do the same."""
        said = self.record(b"\x18\0\0\1" + bytes([asks]), HANDSHAKE)
        self._use(_expanded(self._secret, b"traffic upd", 48))
        return said


class Sealer12:
    """Seals what a client of TLS 1.2 sends after its handshake. `server_random` stood in the server's hello."""

    def __init__(self, secrets: Path, server_random: bytes) -> None:
        seed = b"key expansion" + server_random + bytes.fromhex(_fields(secrets, "CLIENT_RANDOM")[1])
        block = _prf(_noted(secrets, "CLIENT_RANDOM"), seed, 72)
        self._key, self._salt, self._number = AESGCM(block[:32]), block[64:68], 1  # 0 was the message Finished

    def record(self, data: bytes, kind: int = DATA) -> bytes:
        """One record with this in it."""
        number = self._number.to_bytes(8, "big")
        self._number += 1
        sealed = self._key.encrypt(self._salt + number, data, number + HEAD.pack(kind, TLS12, len(data)))
        return HEAD.pack(kind, TLS12, len(number + sealed)) + number + sealed

    def renegotiation(self) -> bytes:
        """A ClientHello, which begins a renegotiation. It is empty: a server that refuses does not read it."""
        return self.record(b"\1\0\0\0", HANDSHAKE)


def _fields(secrets: Path, label: str) -> list[str]:
    return next(line.split() for line in secrets.read_text().splitlines()[::-1] if line.startswith(f"{label} "))


def _noted(secrets: Path, label: str) -> bytes:
    """The newest secret of this label."""
    return bytes.fromhex(_fields(secrets, label)[2])


def _expanded(secret: bytes, label: bytes, size: int) -> bytes:
    """HKDF-Expand-Label (RFC 8446, 7.1)."""
    label = b"tls13 " + label
    return HKDFExpand(SHA384(), size, size.to_bytes(2, "big") + bytes([len(label)]) + label + b"\0").derive(secret)


def _prf(secret: bytes, seed: bytes, size: int) -> bytes:
    """The pseudorandom function of TLS 1.2 (RFC 5246, 5)."""
    found, at = b"", seed
    while len(found) < size:
        at = hmac.digest(secret, at, "sha384")
        found += hmac.digest(secret, at + seed, "sha384")
    return found[:size]
