"""Kafka's own classes, started once for all tests that ask them."""

from collections.abc import Iterator

import pytest

from tests.proxy.protocol.oracles.kafka import Kafka


@pytest.fixture(scope="session")
def kafka() -> Iterator[Kafka]:
    """The newest Kafka that there is."""
    with Kafka("clients-4.4.0") as kafka:
        yield kafka


@pytest.fixture(scope="session")
def older_kafka() -> Iterator[Kafka]:
    """The last Kafka that still had what 4.0 dropped."""
    with Kafka("clients-3.9.1") as kafka:
        yield kafka
