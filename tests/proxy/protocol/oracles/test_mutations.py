"""Mutated bytes that both the proxy and Kafka's own classes can read are the same message to both.

The request that the proxy allows must be the one that the broker executes. The proxy may refuse bytes that Kafka takes:
extra bytes after the end, or a tagged field with a wrong size. For broken UTF-8 both put U+FFFD, though not always
equally often.
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
