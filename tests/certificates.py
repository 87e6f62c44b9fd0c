"""Certificates for tests: an authority, and the certificates that it signs."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from collections.abc import Sequence
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)
from cryptography.x509.oid import NameOID

DAY = datetime.timedelta(days=1)
SIGNING = x509.KeyUsage(
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)


class Authority:
    """Signs certificates, and writes them into a folder."""

    def __init__(self, folder: Path, name: str = "ca") -> None:
        self.folder = folder
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self.certificate = self._sign(self.name, self.key.public_key(), [], authority=True)
        self.file = folder / f"{name}.pem"
        self.file.write_bytes(self.certificate.public_bytes(Encoding.PEM))

    def _sign(
        self,
        subject: x509.Name,
        public: ec.EllipticCurvePublicKey,
        hosts: Sequence[str],
        days: tuple[float, float] = (-1, 30),
        authority: bool = False,
    ) -> x509.Certificate:
        now = datetime.datetime.now(datetime.UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self.name)
            .public_key(public)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + days[0] * DAY)
            .not_valid_after(now + days[1] * DAY)
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
            # Since Python 3.13 clients want certificates to name the keys, as RFC 5280 does.
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()), critical=False)
        )
        if authority:
            builder = builder.add_extension(SIGNING, critical=True)
        if hosts:
            builder = builder.add_extension(x509.SubjectAlternativeName(list(map(_general, hosts))), critical=False)
        return builder.sign(self.key, hashes.SHA256())

    def issue(
        self,
        name: str,
        *hosts: str,
        days: tuple[float, float] = (-1, 30),
        password: str | None = None,
        organization: str | None = None,
        curve: type[ec.EllipticCurve] = ec.SECP256R1,
    ) -> tuple[Path, Path]:
        """A certificate and its key, in two files that only their owner can read."""
        parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization)] if organization else []
        subject = x509.Name([*parts, x509.NameAttribute(NameOID.COMMON_NAME, name)])
        key = ec.generate_private_key(curve())
        certificate = self._sign(subject, key.public_key(), hosts, days)
        encryption = BestAvailableEncryption(password.encode()) if password else NoEncryption()
        written = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)
        files = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        for file, data in zip(files, (certificate.public_bytes(Encoding.PEM), written), strict=True):
            fresh = file.with_name(f"{file.name}.fresh")
            fresh.write_bytes(data)
            fresh.chmod(0o600)
            fresh.replace(file)  # at once: a proxy may be reading it
        return files

    def store(self, name: str, *hosts: str, password: str = "secret") -> Path:
        """A PKCS#12 store."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        certificate = self._sign(subject, key.public_key(), hosts)
        encryption = BestAvailableEncryption(password.encode())
        data = pkcs12.serialize_key_and_certificates(name.encode(), key, certificate, [self.certificate], encryption)
        file = self.folder / f"{name}.p12"
        file.write_bytes(data)
        file.chmod(0o600)
        return file


def spoil(file: Path, before: bytes, after: bytes) -> None:
    """Put other bytes into the certificate of a PEM file. It can still be told to be one."""
    written = ssl.PEM_cert_to_DER_cert(file.read_text())
    assert before in written
    file.write_text(ssl.DER_cert_to_PEM_cert(written.replace(before, after)))


def _general(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
