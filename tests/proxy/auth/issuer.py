"""An issuer of tokens, with its own keys."""

from __future__ import annotations

import base64
import json
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, RSAKey

NOW = 1_800_000_000.0


class Issuer:
    """Keys, and tokens signed with them."""

    def __init__(self, kid: str = "k1", rsa: bool = False, bits: int = 2_048) -> None:
        parameters: Any = {"kid": kid}
        self.key = RSAKey.generate_key(bits, parameters) if rsa else ECKey.generate_key("P-256", parameters)
        self.algorithm = "RS256" if rsa else "ES256"

    @property
    def keys(self) -> KeySet:
        return KeySet([self.key])

    @property
    def jwks(self) -> str:
        """Its published keys, as JWKS."""
        return json.dumps(KeySet([self.key]).as_dict(private=False))

    def token(self, now: float = NOW, **claims: Any) -> str:
        """A token for alice that is valid for an hour, unless the claims say otherwise."""
        whole = {"sub": "alice", "iat": now, "exp": now + 3600, "iss": "https://issuer", "aud": "kafka"} | claims
        whole = {name: value for name, value in whole.items() if value is not None}
        return jwt.encode({"alg": self.algorithm, "kid": self.key.kid}, whole, self.key, algorithms=[self.algorithm])

    def sign(self, header: bytes, payload: bytes) -> str:
        """A token of any bytes with a valid signature (ES256)."""
        signed = b".".join(base64.urlsafe_b64encode(part).rstrip(b"=") for part in (header, payload))
        assert isinstance(self.key.private_key, EllipticCurvePrivateKey)
        numbers = decode_dss_signature(self.key.private_key.sign(signed, ECDSA(SHA256())))
        signature = b"".join(number.to_bytes(32) for number in numbers)
        return (signed + b"." + base64.urlsafe_b64encode(signature).rstrip(b"=")).decode()
