"""Distinguished names, compared with Java's own X500Principal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import NameAttribute, ObjectIdentifier, RelativeDistinguishedName
from cryptography.x509.name import _ASN1Type
from cryptography.x509.oid import NameOID
from hypothesis import given
from hypothesis import strategies as st

from proxy.auth.distinguished import LONGEST, distinguished_name, subject
from tests.certificates import Authority
from tests.proxy.protocol.oracles.kafka import NEWEST, Kafka


def name(*parts: tuple[ObjectIdentifier, str] | NameAttribute | RelativeDistinguishedName) -> bytes:
    made = [NameAttribute(*part) if isinstance(part, tuple) else part for part in parts]
    return x509.Name(made).public_bytes()


@pytest.fixture(scope="module")
def kafka() -> Iterator[Kafka]:
    with Kafka(NEWEST) as kafka:
        yield kafka


def der(kind: int, content: bytes) -> bytes:
    return bytes((kind, len(content))) + content


def theirs(kafka: Kafka, subject: bytes) -> str:
    return str(kafka.gateway.jvm.javax.security.auth.x500.X500Principal(subject).getName())


TEXTS = ["alice", "a,b", 'q"u"', "a+b=c", "<#;>", "\\", "Jörg Müller", "東京", "a  b", "#1", "*", "/", "😀"]


@pytest.mark.parametrize("text", TEXTS)
def test_text_is_written_as_java_writes_it(kafka: Kafka, text: str) -> None:
    subject = name((NameOID.ORGANIZATION_NAME, "Example"), (NameOID.COMMON_NAME, text))
    assert distinguished_name(subject) == theirs(kafka, subject)


def test_a_name_is_refused_that_is_too_long_to_match_rules_against() -> None:
    unit = (NameOID.ORGANIZATIONAL_UNIT_NAME, "u" * 28)
    assert len(distinguished_name(name(*[unit] * 8))) == LONGEST - 1
    with pytest.raises(ValueError, match="longer than 256 characters"):
        distinguished_name(name(*[unit] * 9))


@pytest.mark.parametrize("kind", [_ASN1Type.T61String, _ASN1Type.IA5String, _ASN1Type.UniversalString])
def test_every_kind_of_text_is_written_as_java_writes_it(kafka: Kafka, kind: _ASN1Type) -> None:
    subject = name(NameAttribute(NameOID.COMMON_NAME, "alice", _type=kind, _validate=False))
    assert distinguished_name(subject) == theirs(kafka, subject)


SEVERAL = RelativeDistinguishedName(
    [
        NameAttribute(NameOID.USER_ID, "7"),
        NameAttribute(NameOID.COMMON_NAME, "alice"),
        NameAttribute(NameOID.TITLE, "x"),
    ]
)


def test_a_part_of_several_is_joined_by_a_plus(kafka: Kafka) -> None:
    subject = name(RelativeDistinguishedName([NameAttribute(NameOID.COUNTRY_NAME, "DE")]), SEVERAL)
    assert distinguished_name(subject) == theirs(kafka, subject)


ALICE = name((NameOID.COMMON_NAME, "alice"))


@pytest.mark.parametrize(
    "odd",
    [
        *(
            name((NameOID.COMMON_NAME, text))
            for text in (" alice", "alice ", "\ralice", "ali\0ce", "ali\x7fce", " ", "\u202ea")
        ),
        name(NameAttribute(NameOID.COMMON_NAME, "alice", _type=_ASN1Type.BMPString, _validate=False)),
        ALICE.replace(b"alice", b"al\xffce"),
        name(NameAttribute(NameOID.TITLE, "")).replace(b"\x55\x04\x0c", b"\x55\x04\x03"),
        name(*[(NameOID.COMMON_NAME, "x" * 60)] * 70),
        b"0\0",
        b"0\x02\x31\0",
        b"",
        ALICE + b"\0",
        ALICE[:-1],
        b"\x31" + ALICE[1:],
        ALICE.replace(b"\x31", b"\x30"),
        ALICE[:2] + ALICE[2:].replace(b"\x30", b"\x31"),
        ALICE.replace(b"\x06\x03\x55\x04\x03", b"\x02\x03\x55\x04\x03"),
        ALICE.replace(b"\x55\x04\x03", b"\x55\x04\x83"),
        b"\x30\x81" + ALICE[1:],
        b"\x30\x80" + ALICE[2:] + b"\0\0",
        b"\x1f" + ALICE[1:],
    ],
)
def test_an_odd_name_is_refused(odd: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        distinguished_name(odd)


@pytest.mark.parametrize("number", [b"\x55\x04\x80\x03", b"\x80\x55\x04\x03", b""])
def test_a_number_has_one_form_only(number: bytes) -> None:
    with pytest.raises(ValueError, match="number"):
        distinguished_name(der(0x30, der(0x31, der(0x30, der(0x06, number) + der(0x0C, b"alice")))))


def test_the_subject_is_what_its_authority_signed(kafka: Kafka, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    file, _ = authority.issue("alice", organization="Example")
    certificate = x509.load_pem_x509_certificate(file.read_bytes())
    found = subject(certificate.public_bytes(Encoding.DER))
    assert found == certificate.subject.public_bytes()
    assert distinguished_name(found) == "CN=alice,O=Example"


@given(st.binary(max_size=40))
def test_any_bytes_give_a_name_or_an_error(data: bytes) -> None:
    for read in (distinguished_name, subject):
        with suppress(ValueError, IndexError):
            read(data)
