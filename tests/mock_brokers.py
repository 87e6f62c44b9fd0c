"""Mock brokers: librdkafka's mock cluster, in the process of the test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka import Producer

from proxy.cli.demo.stage import addresses


@contextmanager
def mock_brokers(brokers: int) -> Iterator[str]:
    """Start so many brokers and give the address of one. They live as long as their client, which does nothing else."""
    cluster = Producer({"test.mock.num.brokers": brokers, "log_level": 0})
    yield next(iter(addresses(cluster).values()))
    del cluster
