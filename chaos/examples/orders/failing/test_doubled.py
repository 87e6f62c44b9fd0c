"""A test that fails, to see what that looks like: pytest failing."""

from __future__ import annotations

import pytest
from orders import place_order, read_orders

from chaos.fixture import KafkaFaults


@pytest.mark.kafka_faults(seed=7)
def test_an_order_is_written_once(kafka_faults: KafkaFaults) -> None:
    topic = "doubled-orders"
    with kafka_faults.on("Produce", topic=topic).after_broker().disconnect().times(1).named("lost-ack"):
        place_order(kafka_faults.bootstrap, "order-1", topic)
    assert len(read_orders(kafka_faults.bootstrap, topic)) == 1


def test_a_fault_that_never_fires_is_a_mistake(kafka_faults: KafkaFaults) -> None:
    with kafka_faults.on("Produce", topic="ordres").disconnect():
        place_order(kafka_faults.bootstrap, "order-1", "orders-of-nobody")
