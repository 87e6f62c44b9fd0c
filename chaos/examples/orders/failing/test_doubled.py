"""A test that fails, to see what that looks like: pytest failing."""

from __future__ import annotations

import pytest
from orders import place_order, read_orders

from chaos.fixture import KafkaFaults


@pytest.mark.kafka_faults(seed=7)
def test_an_order_is_written_once(kafka_faults: KafkaFaults) -> None:
    with kafka_faults.on("Produce", topic="orders").after_broker().disconnect().times(1):
        place_order(kafka_faults.bootstrap)
    assert len(read_orders(kafka_faults.bootstrap)) == 1


def test_a_fault_that_never_fires_is_a_mistake(kafka_faults: KafkaFaults) -> None:
    with kafka_faults.on("Produce", topic="ordres").disconnect():
        place_order(kafka_faults.bootstrap, "order-1", "orders-of-nobody")
