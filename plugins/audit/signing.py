"""The key with which seals are signed: Ed25519, in a PEM file that only the proxy needs.

Rules:
* If the file is missing, it is made with a new key. Several processes may do so at once: one of them wins.
* Only the owner may read it. With the key one can forge seals, so it is not in the journal, which auditors get.
* A verifier needs only the public key: that of the PEM file, or of one made by `openssl pkey -pubout`.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from hashlib import sha256
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from plugins.audit.keyfile import KeyFileError, content_of, made_once


def signing_key(file: Path) -> Ed25519PrivateKey:
    """The key in the file, which is made if it is missing. Raises KeyFileError, OSError."""
    try:
        content = content_of(file)
    except FileNotFoundError:
        content = _made(file)
    try:
        key = load_pem_private_key(content, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise KeyFileError(f"{file}: no private key in PEM without a passphrase; {_REMEDY}") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyFileError(f"{file}: the key is not an Ed25519 one; {_REMEDY}")
    return key


_REMEDY = 'make one with "openssl genpkey -algorithm ed25519", or let the proxy make it'


def _made(file: Path) -> bytes:
    key = Ed25519PrivateKey.generate()
    return made_once(file, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))


def public_key(file: Path) -> Ed25519PublicKey:
    """The public key in a file with a public or a private key. Raises KeyFileError, OSError."""
    content = content_of(file)
    try:
        key = load_pem_public_key(content) if b"PUBLIC" in content else load_pem_private_key(content, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise KeyFileError(f"{file}: no key in PEM without a passphrase; {_PUBLIC}") from None
    if isinstance(key, Ed25519PrivateKey):
        return key.public_key()
    if not isinstance(key, Ed25519PublicKey):
        raise KeyFileError(f"{file}: the key is not an Ed25519 one; {_PUBLIC}")
    return key


_PUBLIC = 'give the public one of the proxy\'s, which "openssl pkey -in journal.key -pubout" prints'


def key_text(key: Ed25519PublicKey) -> str:
    """The public key as a seal shows it."""
    return b64encode(key.public_bytes(Encoding.Raw, PublicFormat.Raw)).decode()


def fingerprint(text: str) -> str:
    """A fingerprint for people to compare: the hash of this public key, as `ssh-keygen` writes hashes."""
    digest = sha256(b64decode(text)).digest()
    return f"SHA256:{b64encode(digest).decode().rstrip('=')}"


def is_signed(key: Ed25519PublicKey, signature: bytes, data: bytes) -> bool:
    """Whether this key signed the data."""
    try:
        key.verify(signature, data)
    except InvalidSignature:
        return False
    return True
