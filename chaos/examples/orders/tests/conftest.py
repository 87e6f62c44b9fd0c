"""The shop's own Kafka, for all tests: the one of the fixture."""

from __future__ import annotations

import pytest

from chaos.fixture import KafkaFaults


@pytest.fixture(autouse=True)
def shop(kafka_faults: KafkaFaults, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORDERS_KAFKA", kafka_faults.bootstrap)
