"""Kafka's own classes, started once for all tests that ask them."""

from collections.abc import Iterator

import pytest

from tests.proxy.protocol.oracles.kafka import NEWEST, OLDER, Kafka


@pytest.fixture(scope="session")
def kafka() -> Iterator[Kafka]:
    """The newest Kafka that there is."""
    with Kafka(NEWEST) as kafka:
        yield kafka


@pytest.fixture(scope="session")
def older_kafka() -> Iterator[Kafka]:
    """The last Kafka that still had what 4.0 dropped."""
    with Kafka(OLDER) as kafka:
        yield kafka
