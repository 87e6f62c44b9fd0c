"""Mutated bytes that both we and Kafka's own classes read are the same message to both.

What a proxy allows must be what the broker behind it then does. We may refuse what Kafka takes: bytes after the end, a
tagged field that is not as long as its tag says. Where UTF-8 breaks both put U+FFFD, though not always equally many.
"""

from __future__ import annotations

import random

import pytest

from proxy.protocol.codec import decode, encode
from proxy.protocol.problem import ProtocolError
from tests.proxy.protocol.generate import EVERY, make
from tests.proxy.protocol.oracles.kafka import Kafka, KafkaRefusedError
from tests.proxy.protocol.test_mutations import mutated, outcome

REPLACED = "\ufffd".encode()


@pytest.mark.parametrize("rounds", [2 * len(EVERY), pytest.param(50_000, marks=pytest.mark.long)])
def test_what_both_read_is_the_same_to_both(rounds: int, kafka: Kafka, older_kafka: Kafka) -> None:
    dice = random.Random(rounds)
    newest = {cls: kafka.versions(cls) for cls, _ in EVERY}
    agreed = 0
    for n in range(rounds):
        cls, version = EVERY[n % len(EVERY)]
        data = mutated(encode(make(cls, version, dice), version), dice)
        ours = outcome(decode, cls, version, data)
        if isinstance(ours, ProtocolError):
            continue
        asked = kafka if version in newest[cls] else older_kafka
        try:
            theirs = asked.write(asked.read(cls, version, data), version)
        except KafkaRefusedError:
            continue
        written = encode(ours, version)
        if REPLACED not in written:
            assert theirs == written, (cls, version, data.hex())
            agreed += 1
    assert agreed > rounds / 10
