"""Certified: a certificate with its key, and the names that it is valid for.

Rules:
* Whether OpenSSL takes a certificate only OpenSSL knows: it refuses weak keys, and some kinds of keys.
* The key fits the certificate, and the certificate is valid today. Otherwise it is an `UnusableError`.
* The parts of a certificate are parsed only when they are asked for. So one that was loaded may still be damaged.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeVar

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from cryptography.x509.oid import NameOID

from proxy.config.tls import Pair, UnusableError

T = TypeVar("T")

PUBLIC = Encoding.DER, PublicFormat.SubjectPublicKeyInfo


@dataclass(frozen=True)
class CertifiedKey:
    """A certificate with its key. `pem` is the form that TLS libraries read, `names` are the hosts it is valid for."""

    pem: bytes = field(repr=False)
    names: tuple[str, ...]
    not_after: datetime

    def covers(self, host: str) -> bool:
        """Is it valid for this host?"""
        host = host.lower()
        return any(name == host or (name[:2] == "*." and host.partition(".")[2] == name[2:]) for name in self.names)


def certified(chain: Sequence[x509.Certificate], key: PrivateKeyTypes, option: str, path: str) -> CertifiedKey:
    """The first of these certificates with its key. `option` and `path`: where they were read. Raises UnusableError."""
    own, about = chain[0], "keystore" if option == "keystore" else "certificate"

    def read(what: str, part: Callable[[], T]) -> T:
        try:
            return part()
        except (ValueError, UnsupportedAlgorithm, x509.DuplicateExtension, x509.UnsupportedGeneralNameType) as error:
            fact = f'the certificate in "{path}" has {what} that cannot be read ({_wrong(error)})'
            raise UnusableError(about, fact, "have it issued anew, with an RSA or EC key") from None

    if read("a key", own.public_key).public_bytes(*PUBLIC) != key.public_key().public_bytes(*PUBLIC):
        way_out = "give the key with which it was requested; the certificate itself must come first in its file"
        raise UnusableError(option, f'the key does not fit the certificate in "{path}"', way_out)
    now, begins, ends = datetime.now(UTC), own.not_valid_before_utc, own.not_valid_after_utc
    if now > ends:
        raise UnusableError(about, f'the certificate in "{path}" expired on {ends:%Y-%m-%d}', "renew it")
    if now < begins:
        fact = f'the certificate in "{path}" is not valid before {begins:%Y-%m-%d %H:%M} UTC'
        raise UnusableError(about, fact, "check the machine's clock")
    written = b"".join(each.public_bytes(Encoding.PEM) for each in chain)
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return CertifiedKey(written + secret, read("names", lambda: _names(own)), ends)


def present(context: ssl.SSLContext, shown: CertifiedKey, pair: Pair) -> None:
    """Have a context present the certificate of these options. Raises UnusableError.

    OpenSSL reads only files; a file in memory leaves no key on a disk.
    """
    descriptor = os.memfd_create("certificate", os.MFD_CLOEXEC)
    with open(descriptor, "wb") as memory:
        memory.write(shown.pem)
        memory.flush()
        try:
            context.load_cert_chain(f"/proc/self/fd/{descriptor}")
        except ssl.SSLError as error:
            option = "keystore" if pair.keystore else "certificate"
            reason = (error.reason or str(error)).replace("_", " ").lower()
            raise UnusableError(option, f"the certificate is refused by OpenSSL ({reason})", "give another") from None


def _wrong(error: Exception) -> str:
    if isinstance(error, UnsupportedAlgorithm):
        return "of an unknown kind"
    if isinstance(error, x509.DuplicateExtension):
        return "an extension is there twice"
    return "damaged"


def _names(certificate: x509.Certificate) -> tuple[str, ...]:
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        return tuple(name.lower() for name in found.get_values_for_type(x509.DNSName))
    except x509.ExtensionNotFound:
        common = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
        return tuple(str(each.value).lower() for each in common)
