"""Names in certificates: Kafka gives a client the same principal as the proxy, or none.

Kafka derives a principal from a certificate by Java's X500Principal and by its own principal builder.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from proxy.auth.distinguished import WORDS, distinguished_name
from proxy.auth.mapping import Mapping
from proxy.core.sasl.name import ClaimError, name
from tests.proxy.core.sasl.oracle import mutated
from tests.proxy.protocol.oracles.kafka import Kafka, KafkaRefusedError

COUNTS = [3_000, pytest.param(100_000, marks=pytest.mark.long)]
RULES = [
    "DEFAULT",
    "RULE:^CN=([^,]+).*$/$1/, DEFAULT",
    "RULE:^CN=(.*?),OU=(.*?),.*$/$1@$2/L, RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1/U, DEFAULT",
    "RULE:^.*OU=([^,+]*).*$/$1/L",
    "RULE:^(?:.*,)?CN=([^,+]+)(?:[,+].*)?$/$1/U",
    r"RULE:^.*?UID=((?:\\.|[^,\\+])+).*$/$1/, RULE:CN=(\\w+)/x$1/L",
    "RULE:.*/x/",
    "RULE:^(.*)$/$1/L",
    "RULE:^(.*)$/$1/U",
]
NUMBERS = [*WORDS, "2.5.4.5", "2.5.4.12", "1.2.840.113549.1.9.1", "2.999.1.268435455", "0.0", "1.39.128"]
KINDS = [0x0C] * 12 + [0x13, 0x14, 0x16, 0x1B, 0x1E, 0x1C, 0x12, 0x03, 0x30]
TEXTS = [
    "alice",
    "Bob Smith",
    "admin",
    "a,b",
    'q"u"',
    "a+b=c",
    "<#;>",
    "\\",
    "Jörg",
    "東京",
    "STRASSE ß",
    "ΑΣ",
    "İI",
    "#1",
    "x.y",
]
ODD_TEXTS = ["", " alice", "alice ", "ali\0ce", "ali\nce", "CN=admin,", "ali\u2028ce", "ﬁ", "ǅ", "ΑΣ\u00ad", "\ud7ff"]
BYTES = b"\x00\x01\x03\x04\x05\x0c\x13\x1e\x30\x31\x55\x80\x81\xff aliceCN=,+\\"


def der(kind: int, content: bytes, *, long: bool = False) -> bytes:
    """One DER element; with `long`, its length takes more bytes than it should."""
    size = len(content)
    if size < 0x80 and not long:
        return bytes((kind, size)) + content
    length = size.to_bytes((size.bit_length() + 7) // 8 or 1)
    return bytes((kind, 0x80 | len(length))) + length + content


def number(dotted: str) -> bytes:
    first, second, *others = map(int, dotted.split("."))
    written = bytearray()
    for value in (40 * first + second, *others):
        sevens = [value & 0x7F]
        while value := value >> 7:
            sevens.append(value & 0x7F | 0x80)
        written += bytes(reversed(sevens))
    return bytes(written)


def part(dice: random.Random) -> bytes:
    """One attribute of a name."""
    text = dice.choice(TEXTS * 6 + ODD_TEXTS)
    kind = dice.choice(KINDS)
    encoded = text.encode("utf-16-be" if kind == 0x1E and dice.random() < 0.5 else "utf-8")
    oid = der(
        0x06,
        mutated(dice, number(dice.choice(NUMBERS * 6)), BYTES) if dice.random() < 0.1 else number(dice.choice(NUMBERS)),
    )
    return der(0x30, oid + der(kind, encoded, long=dice.random() < 0.02))


def subject(dice: random.Random) -> bytes:
    """A certificate's subject: parts of one or several attributes, sometimes mutated."""
    parts = [
        der(0x31, b"".join(part(dice) for _ in range(dice.choice((1,) * 40 + (2, 2, 3, 0)))))
        for _ in range(dice.choice((1, 2, 2, 3, 3, 4) * 6 + (0,)))
    ]
    whole = der(0x30, b"".join(parts))
    return mutated(dice, whole, BYTES)


class Builder:
    """Kafka's principal builder with one set of mapping rules."""

    def __init__(self, kafka: Kafka, rules: str) -> None:
        self._x500 = kafka.gateway.jvm.javax.security.auth.x500.X500Principal
        security = kafka.common.security
        self._builder = security.authenticator.DefaultKafkaPrincipalBuilder(
            None, security.ssl.SslPrincipalMapper.fromRules(rules)
        )
        (self._apply,) = (
            each
            for each in self._builder.getClass().getDeclaredMethods()
            if each.getName() == "applySslPrincipalMapper"
        )
        self._apply.setAccessible(True)
        self._arguments: Any = kafka.gateway.new_array(kafka.java.lang.Object, 1)

    def principal(self, subject: bytes) -> str | None:
        """Kafka's principal for a client with this certificate."""
        try:
            self._arguments[0] = self._x500(subject)
            return str(self._apply.invoke(self._builder, self._arguments))
        except KafkaRefusedError:
            return None


@pytest.fixture(scope="module")
def builders() -> Iterator[list[tuple[Mapping, Builder]]]:
    with Kafka("kafka-4.3.1") as kafka:
        yield [(Mapping([rules]), Builder(kafka, rules)) for rules in RULES]


@pytest.mark.parametrize("count", COUNTS)
def test_a_certificate_is_read_as_kafka_reads_it(builders: list[tuple[Mapping, Builder]], count: int) -> None:
    dice, met = random.Random(15), Counter[str]()
    for _ in range(count):
        mapping, builder = dice.choice(builders)
        shown = subject(dice)
        ours = None
        with suppress(ClaimError, ValueError):
            found = mapping.principal(distinguished_name(shown))
            ours = None if found is None else "User:" + name(found.encode())
        theirs = builder.principal(shown)
        assert ours is None or theirs in (None, ours), f"{shown.hex()}: Kafka takes it for {theirs}, we for {ours}"
        both = "the same name" if theirs else "refused by Kafka alone"
        met[both if ours else "refused here, and Kafka takes it" if theirs else "refused by both"] += 1
    print(f"\ncertificates: {dict(met)}")
    assert met["the same name"] > count / 10
    assert met["refused here, and Kafka takes it"] > 0
