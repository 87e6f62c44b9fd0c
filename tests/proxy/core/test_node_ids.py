"""Node ids as text, compared with Java's own `Integer.parseInt`."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator

import pytest

from proxy.core.node_ids import read_node_id
from tests.proxy.protocol.oracles.kafka import NEWEST, Kafka, KafkaRefusedError

ONE = "\u0661"  # the digit one in Arabic script
TEXTS = [
    *("1", "+1", "-1", "-0", "+0", "0", "00000000001", "0" * 5_000 + "7"),
    *(ONE, f"{ONE}2", f"+{ONE}", "\uff11", "\u0660" * 50),
    *("2147483647", "2147483648", "-2147483648", "-2147483649", "9999999999", "9" * 5_000, "1" + "0" * 5_000),
    *("", "+", "-", "+-1", "--1", " 1", "1 ", "1\n", "1_0", "0x1", "1.0", "1e1", "one", "\u00b2", "\u2460", "\u4e00"),
    *("\U0001d7d9", "\U0001d7d91", "\u22121", "\ufb291", "\u200e1", "1\0"),
]  # fmt: skip
DIGITS = [chr(code) for code in range(sys.maxunicode) if chr(code).isdecimal()]


@pytest.fixture(scope="module")
def kafka() -> Iterator[Kafka]:
    with Kafka(NEWEST) as kafka:
        yield kafka


def theirs(kafka: Kafka, text: str) -> int | None:
    try:
        return int(kafka.java.lang.Integer.parseInt(text))
    except KafkaRefusedError:
        return None


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text[:20]))
def test_a_node_id_is_read_as_java_reads_it(kafka: Kafka, text: str) -> None:
    assert read_node_id(text) == theirs(kafka, text)


def test_the_digits_of_every_script_are_read_as_java_reads_them(kafka: Kafka) -> None:
    assert {digit: read_node_id(digit) for digit in DIGITS} == {digit: theirs(kafka, digit) for digit in DIGITS}


def test_random_texts_are_read_as_java_reads_them(kafka: Kafka) -> None:
    dice, read = random.Random(5), 0
    for _ in range(500):
        alphabet = dice.choice(["0", "01", "0123456789", f"0{ONE}9", "+-0129 _\U0001d7d9"])
        text = dice.choice(["", "", "+", "-"]) + "".join(dice.choices(alphabet, k=dice.randrange(14)))
        found = read_node_id(text)
        assert found == theirs(kafka, text), ascii(text)
        read += found is not None
    assert read > 100
