"""The certificates that clients trust and present, in the formats of each library."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, load_pem_private_key, pkcs12

from tests.certificates import Authority

STORE_PASSWORD = "changeit"


class Papers(NamedTuple):
    """PEM files, and the same certificates as Java's stores."""

    authority: Path
    truststore: Path
    certificate: Path | None = None
    key: Path | None = None
    keystore: Path | None = None


def trust(authority: Authority) -> Papers:
    """Trust this CA, and present no certificate."""
    store = authority.file.with_suffix(".p12")
    entry = pkcs12.PKCS12Certificate(authority.certificate, b"authority")
    store.write_bytes(pkcs12.serialize_java_truststore([entry], BestAvailableEncryption(STORE_PASSWORD.encode())))
    return Papers(authority.file, store)


def show(trusted: Papers, issuer: Authority, certificate: Path, key: Path) -> Papers:
    """Trust the same CA as `trusted`, and present this certificate."""
    store = certificate.with_suffix(".p12")
    written = pkcs12.serialize_key_and_certificates(
        b"own",
        load_pem_private_key(key.read_bytes(), None),  # type: ignore[arg-type]
        x509.load_pem_x509_certificate(certificate.read_bytes()),
        [issuer.certificate],
        BestAvailableEncryption(STORE_PASSWORD.encode()),
    )
    store.write_bytes(written)
    return trusted._replace(certificate=certificate, key=key, keystore=store)
