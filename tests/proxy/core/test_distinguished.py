"""Distinguished names, beside Java's own X500Principal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest
from cryptography import x509
from cryptography.x509 import NameAttribute, ObjectIdentifier, RelativeDistinguishedName
from cryptography.x509.name import _ASN1Type
from cryptography.x509.oid import NameOID
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.core.distinguished import distinguished_name
from tests.proxy.protocol.oracles.kafka import NEWEST, Kafka

KINDS = [
    NameOID.COMMON_NAME,
    NameOID.ORGANIZATION_NAME,
    NameOID.ORGANIZATIONAL_UNIT_NAME,
    NameOID.LOCALITY_NAME,
    NameOID.STATE_OR_PROVINCE_NAME,
    NameOID.STREET_ADDRESS,
    NameOID.DOMAIN_COMPONENT,
    NameOID.USER_ID,
    NameOID.EMAIL_ADDRESS,
    NameOID.SERIAL_NUMBER,
    NameOID.TITLE,
    ObjectIdentifier("2.999.1.268435455"),
]


def name(*parts: tuple[ObjectIdentifier, str] | NameAttribute | RelativeDistinguishedName) -> bytes:
    made = [NameAttribute(*part) if isinstance(part, tuple) else part for part in parts]
    return x509.Name(made).public_bytes()


@pytest.fixture(scope="module")
def kafka() -> Iterator[Kafka]:
    with Kafka(NEWEST) as kafka:
        yield kafka


def theirs(kafka: Kafka, subject: bytes) -> str:
    return str(kafka.gateway.jvm.javax.security.auth.x500.X500Principal(subject).getName())


TEXTS = [
    "alice",
    " alice ",
    "a,b",
    'q"u"',
    "a+b=c",
    "<#;>",
    "\\",
    "Jörg Müller",
    "東京",
    "a  b",
    "\r a",
    "x\0y",
    "#1",
    " ",
]


@pytest.mark.parametrize("text", TEXTS)
def test_text_is_written_as_java_writes_it(kafka: Kafka, text: str) -> None:
    subject = name((NameOID.ORGANIZATION_NAME, "Example"), (NameOID.COMMON_NAME, text))
    assert distinguished_name(subject) == theirs(kafka, subject)


@pytest.mark.parametrize(
    "kind", [_ASN1Type.T61String, _ASN1Type.BMPString, _ASN1Type.IA5String, _ASN1Type.UniversalString]
)
def test_every_kind_of_text_is_written_as_java_writes_it(kafka: Kafka, kind: _ASN1Type) -> None:
    subject = name(NameAttribute(NameOID.COMMON_NAME, "alice", _type=kind, _validate=False))
    assert distinguished_name(subject) == theirs(kafka, subject)


def test_a_part_of_several_is_joined_by_a_plus(kafka: Kafka) -> None:
    several = RelativeDistinguishedName(
        [
            NameAttribute(NameOID.USER_ID, "7"),
            NameAttribute(NameOID.COMMON_NAME, "alice"),
            NameAttribute(NameOID.TITLE, "x"),
        ]
    )
    subject = x509.Name(
        [RelativeDistinguishedName([NameAttribute(NameOID.COUNTRY_NAME, "DE")]), several]
    ).public_bytes()
    assert distinguished_name(subject) == theirs(kafka, subject)


def test_any_name_is_written_as_java_writes_it(kafka: Kafka) -> None:
    text = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)

    @settings(max_examples=150, deadline=None)
    @given(st.lists(st.tuples(st.sampled_from(KINDS), text), max_size=6))
    def check(parts: list[tuple[ObjectIdentifier, str]]) -> None:
        subject = x509.Name([NameAttribute(kind, text, _validate=False) for kind, text in parts]).public_bytes()
        assert distinguished_name(subject) == theirs(kafka, subject)

    check()


@given(st.binary(max_size=40))
def test_any_bytes_give_a_name_or_an_error(data: bytes) -> None:
    with suppress(ValueError):
        distinguished_name(data)
