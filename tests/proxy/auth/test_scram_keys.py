"""The keys of a password, as Kafka's own classes compute them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from proxy.auth.scram_keys import HASHES, combined, scram_keys, signature
from tests.proxy.protocol.oracles.kafka import NEWEST, Kafka

SALT = bytes(range(20))
ODD = ["x", "pässword", "x\u00b2", "a\u00adb", "e\u0301", "\u00a0x", "\ufb01", "a\tb\n", "\u0627a", "\U0001f511"]


@pytest.fixture(scope="module")
def kafka() -> Iterator[Kafka]:
    with Kafka(NEWEST) as kafka:
        yield kafka


@pytest.mark.parametrize("mechanism", HASHES)
@pytest.mark.parametrize("password", ODD)
def test_a_password_is_hashed_as_kafka_hashes_it(kafka: Kafka, mechanism: str, password: str) -> None:
    scram = kafka.gateway.jvm.org.apache.kafka.common.security.scram.internals
    formatter = scram.ScramFormatter(scram.ScramMechanism.forMechanismName(mechanism))
    salted = formatter.saltedPassword(password, SALT, 4096)
    client = formatter.clientKey(salted)
    theirs = (client, formatter.storedKey(client), formatter.serverKey(salted))
    assert tuple(scram_keys(mechanism, password, SALT, 4096)) == tuple(map(bytes, theirs))


@pytest.mark.parametrize("mechanism", HASHES)
def test_a_proof_shows_the_client_key_to_whoever_has_the_stored_one(mechanism: str) -> None:
    keys = scram_keys(mechanism, "secret", SALT, 4096)
    proof = combined(keys.client, signature(mechanism, keys.stored, b"first", b"final"))
    assert combined(proof, signature(mechanism, keys.stored, b"first", b"final")) == keys.client
    assert combined(proof, signature(mechanism, keys.stored, b"first", b"other")) != keys.client
