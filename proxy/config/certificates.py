"""Certificates, keys and authorities: the contents of the files of `tls:`.

Rules:
* Each file is read once. The bytes that were checked are the bytes that are used, even if the file changes meanwhile.
* A file that cannot be used is an `UnusableError`: the option to change, the fact and a way out. So is one that is too
  large: no file is used in part.
* No message contains a password or a key.
"""

from __future__ import annotations

import os
import stat

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    load_pem_private_key,
    pkcs12,
)

from proxy.config.certified import CertifiedKey, certified
from proxy.config.sasl import Elsewhere
from proxy.config.tls import Pair, Trusting, UnusableError
from proxy.text.regular import open_regular, way_out
from proxy.text.scarce import is_scarce

LARGEST = 4 << 20  # bytes of a file
JKS = (b"\xfe\xed\xfe\xed", b"\xce\xce\xce\xce")  # Java's own stores, JKS and JCEKS
DER = b"\x30"
PEM = b"-----BEGIN "
CERTIFICATE = PEM + b"CERTIFICATE-----"


def identity(pair: Pair) -> CertifiedKey | None:
    """The certificate and key that these options name. None if they name none. Raises UnusableError."""
    if pair.keystore is not None:
        return _from_store(pair, pair.keystore)
    if pair.certificate is None:
        return None
    text = content(pair.certificate, "certificate")
    _refuse_stores(text, pair.certificate, "certificate", "keystore")
    chain = _certificates(text, pair.certificate, "certificate")
    option = "certificate" if pair.key is None else "key"
    path = pair.key or pair.certificate
    return certified(chain, _key(content(path, option), path, option, pair.key_password), option, pair.certificate)


def trusted(tls: Trusting | Elsewhere) -> str | None:
    """The authorities that these options name, as PEM. None if they name none. Raises UnusableError."""
    if tls.ca is None:
        return None
    data = content(tls.ca, "ca")
    if data.startswith(DER):
        store = _store(data, tls.ca, "ca", tls.ca_password)
        found = [each.certificate for each in store.additional_certs] + ([store.cert.certificate] if store.cert else [])
    else:
        _refuse_stores(data, tls.ca, "ca", "ca")
        found = _certificates(data, tls.ca, "ca")
    if not found:
        raise UnusableError("ca", f'no certificate is in "{tls.ca}"', "import the authorities that are to be trusted")
    return "".join(each.public_bytes(Encoding.PEM).decode() for each in found)


def exposed(path: str) -> bool:
    """Can every user of this machine read the file?"""
    try:
        return bool(os.stat(path).st_mode & stat.S_IROTH)
    except OSError:
        return False


def content(path: str, option: str) -> bytes:
    """The bytes of a file. Raises UnusableError."""
    try:
        with open_regular(path) as opened:
            found = opened.read(LARGEST + 1)
    except FileNotFoundError:
        raise UnusableError(option, f'there is no file "{path}"', "check the path") from None
    except OSError as error:
        if is_scarce(error):
            raise
        raise UnusableError(option, f'"{path}" cannot be read ({error.strerror})', way_out(error)) from None
    if len(found) > LARGEST:  # a part of it would be used as if it were all
        raise UnusableError(option, f'"{path}" is larger than {LARGEST >> 20} MiB', "leave out what is not needed")
    return found


def _refuse_stores(data: bytes, path: str, option: str, other: str) -> None:
    if data.startswith(JKS):
        base = os.path.splitext(path)[0]
        command = f"keytool -importkeystore -srckeystore {path} -destkeystore {base}.p12 -deststoretype pkcs12"
        raise UnusableError(option, f'"{path}" is a JKS store, which only Java reads', f"convert it: {command}")
    if data.startswith(DER) and other != option:
        raise UnusableError(option, f'"{path}" is not PEM', f'if it is a PKCS#12 store, name it as "{other}"')


def _certificates(data: bytes, path: str, option: str) -> list[x509.Certificate]:
    if CERTIFICATE not in data:
        raise UnusableError(
            option, f'no certificate is in "{path}"', 'give a PEM file with "-----BEGIN CERTIFICATE-----"'
        )
    try:
        return x509.load_pem_x509_certificates(data)
    except (ValueError, x509.InvalidVersion):
        raise UnusableError(option, f'a certificate in "{path}" is damaged', "write the file anew") from None


def _key(data: bytes, path: str, option: str, password: str | None) -> PrivateKeyTypes:
    _refuse_stores(data, path, option, "keystore")
    start = data.find(b"PRIVATE KEY-----")
    if start < 0:
        way_out = (
            'name the file with the key as "key"' if option == "certificate" else "give the certificate's key, PEM"
        )
        raise UnusableError(option, f'no private key is in "{path}"', way_out)
    block = data[data.rfind(PEM, 0, start) : data.find(b"-----END ", start)]
    encrypted = b"ENCRYPTED" in block  # not in a comment of the file
    if encrypted and password is None:
        raise UnusableError(option, f'the key in "{path}" is encrypted', 'give its password as "key_password"')
    try:
        secret = password.encode() if encrypted and password is not None else None
        key = load_pem_private_key(data[data.rfind(PEM, 0, start) :], secret)
    except (ValueError, TypeError):
        if encrypted:
            fact = f'"key_password" does not open the key in "{path}"'
            raise UnusableError("key_password", fact, "give the password with which it was encrypted") from None
        raise UnusableError(option, f'the key in "{path}" is damaged', "write the file anew") from None
    except UnsupportedAlgorithm:
        raise UnusableError(option, f'the key in "{path}" is of an unknown kind', "use an RSA or EC key") from None
    return key


def _from_store(pair: Pair, path: str) -> CertifiedKey:
    data = content(path, "keystore")
    if data.startswith(PEM):  # Kafka's ssl.keystore.type=PEM
        chain = _certificates(data, path, "keystore")
        return certified(chain, _key(data, path, "keystore", pair.keystore_password), "keystore", path)
    _refuse_stores(data, path, "keystore", "keystore")
    store = _store(data, path, "keystore", pair.keystore_password)
    if store.key is None or store.cert is None:
        raise UnusableError("keystore", f'no private key is in "{path}"', "give a store with a certificate and its key")
    chain = [store.cert.certificate, *(each.certificate for each in store.additional_certs)]
    return certified(chain, store.key, "keystore", path)


def _store(data: bytes, path: str, option: str, password: str | None) -> pkcs12.PKCS12KeyAndCertificates:
    closed = UnusableError(
        f"{option}_password", f'"{option}_password" does not open "{path}"', "give the password of the store"
    )
    if password is not None and "\0" in password:  # for cryptography this is a panic, which nothing contains
        raise closed
    try:
        return pkcs12.load_pkcs12(data, password.encode() if password is not None else None)
    except ValueError as error:
        if "password" in str(error).lower():
            raise closed from None
        raise UnusableError(option, f'"{path}" is no PKCS#12 store', "give a PKCS#12 store or a PEM file") from None
    except x509.InvalidVersion:
        raise UnusableError(option, f'a certificate in "{path}" is damaged', "write the file anew") from None
    except UnsupportedAlgorithm:
        raise UnusableError(option, f'"{path}" is encrypted in an unknown way', "convert it with keytool") from None
