"""All client libraries that incidents are tried on."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tests.real.incidents.aio import Aiokafka
from tests.real.incidents.java import Java
from tests.real.incidents.kafka_python import KafkaPython
from tests.real.incidents.librdkafka import Librdkafka
from tests.real.incidents.steady import Activities, steady
from tests.real.java_clients import JavaClients
from tests.real.way import Way

RELEASE = "4.4.0"  # of the Java clients
for name in ("kafka", "aiokafka", "asyncio"):
    logging.getLogger(name).setLevel(logging.CRITICAL + 1)


@contextmanager
def all_clients(direct: Way, ways: Mapping[str, Way]) -> Iterator[Activities]:
    """Run all activities of all clients, each client on its own way."""
    java = JavaClients(RELEASE)
    try:
        with steady([Java(java), Librdkafka(), KafkaPython(), Aiokafka()], direct, ways) as activities:
            yield activities
    finally:
        java.close()
