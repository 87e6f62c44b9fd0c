"""Keys: the public keys of a token issuer, as a JWKS document (RFC 7517)."""

from __future__ import annotations

import json
import warnings
from typing import Any

from joserfc.errors import JoseError, SecurityWarning
from joserfc.jwk import Key, KeySet, RSAKey

from proxy.text.problems import BadFileError, Problem
from proxy.text.regular import open_regular
from proxy.text.scarce import is_scarce

LARGEST = 1 << 20
NO_SET = "this is no set of keys (JWKS)"
MOST_RSA = 16_384  # bits: OpenSSL verifies with no larger key
# Members of private keys (RFC 7518, section 6). They are left out: of an RSA key that has some of them, the library
# computes the others, which takes up to 20 s in which no other thread runs.
PRIVATE = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth"})

warnings.filterwarnings("ignore", category=SecurityWarning)  # about short keys, which `tokens.py` refuses itself


def keys_in(document: bytes) -> KeySet:
    """The keys of a document. Only their public parts are read. Raises ValueError."""
    try:
        keys = KeySet([key for each in json.loads(document.decode())["keys"] for key in _read(each)])
    except UnicodeDecodeError as error:
        byte = document[error.start]
        raise ValueError(f"the keys (JWKS) are not UTF-8: 0x{byte:02x} at byte {error.start}") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ValueError(NO_SET) from None
    if not keys.keys:
        raise ValueError("no key of this set (JWKS) can be read here; keys of the types RSA, EC and OKP can")
    if any(key.key_type == "oct" for key in keys.keys):
        raise ValueError("a shared secret is among the keys (JWKS); it would let everybody who reads it issue tokens")
    bits = max((key.public_key.key_size for key in keys.keys if isinstance(key, RSAKey)), default=0)
    if bits > MOST_RSA:
        raise ValueError(f"an RSA key of {bits:,} bits is among the keys (JWKS); the most is {MOST_RSA:,}")
    return keys


def _read(key: Any) -> list[Key]:
    """A key of a document, or none if it cannot be read here: the others count (RFC 7517, section 5)."""
    try:
        public = {name: value for name, value in key.items() if name not in PRIVATE}
        return KeySet.import_key_set({"keys": [public]}).keys
    except (JoseError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return []


def load_keys(file: str) -> KeySet:
    """The keys of a file. Raises BadFileError."""
    try:
        with open_regular(file) as opened:
            return keys_in(opened.read(LARGEST))
    except OSError as error:
        if is_scarce(error):
            raise
        raise BadFileError([Problem(file, None, f"cannot be read ({error.strerror}); check the path")]) from None
    except ValueError as error:
        raise BadFileError([Problem(file, None, f"{error}; give what the issuer publishes")]) from None
