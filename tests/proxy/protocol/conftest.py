"""Kafka's own classes, in JVMs that all tests share."""

from collections.abc import Iterator

import pytest

from tests.proxy.protocol.oracles.kafka import NEWEST, OLDER, Kafka


@pytest.fixture(scope="session")
def kafka() -> Iterator[Kafka]:
    """The newest release of Kafka."""
    with Kafka(NEWEST) as kafka:
        yield kafka


@pytest.fixture(scope="session")
def older_kafka() -> Iterator[Kafka]:
    """The last release of Kafka with the versions that 4.0 dropped."""
    with Kafka(OLDER) as kafka:
        yield kafka
