"""What the shop does when Kafka fails."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from orders import NotPlacedError, count_orders, place_order, read_orders

from chaos.fixture import FaultNotFiredError, KafkaFaults


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    """A topic for each test: brokers keep what they were given for the whole run."""
    return str(request.node.name)


def test_an_order_is_placed_though_nobody_leads_for_a_while(kafka_faults: KafkaFaults, topic: str) -> None:
    with kafka_faults.on("Produce", topic=topic).reply("NOT_LEADER_OR_FOLLOWER").times(2) as moved:
        place_order(kafka_faults.bootstrap, "order-1", topic)
    assert moved.fired == 2
    assert len(read_orders(kafka_faults.bootstrap, topic)) == 1


def test_an_order_that_is_too_large_is_not_placed(kafka_faults: KafkaFaults, topic: str) -> None:
    with (
        kafka_faults.on("Produce", topic=topic).reply("MESSAGE_TOO_LARGE"),
        pytest.raises(NotPlacedError, match="too large"),
    ):
        place_order(kafka_faults.bootstrap, "order-1", topic)


def test_an_order_outlasts_an_outage(kafka_faults: KafkaFaults, topic: str) -> None:
    with kafka_faults.on().down().window(length=0.5):
        place_order(kafka_faults.bootstrap, "order-1", topic)
    assert count_orders(kafka_faults.bootstrap, topic) == 1


def test_orders_do_not_wait_for_a_broker_that_has_none_of_them(kafka_faults: KafkaFaults, topic: str) -> None:
    partition, _ = place_order(kafka_faults.bootstrap, "order-1", topic)
    with kafka_faults.on("Produce", topic=topic, partition=partition + 1).hold().optional() as other:
        place_order(kafka_faults.bootstrap, "order-2", topic, partition)
    assert other.fired == 0


def test_an_order_waits_for_a_slow_broker(kafka_faults: KafkaFaults, topic: str) -> None:
    held = kafka_faults.on("Produce", topic=topic).hold().times(1).start()
    with ThreadPoolExecutor() as pool:
        placing = pool.submit(place_order, kafka_faults.bootstrap, "order-1", topic)
        held.wait_for(times=1)
        assert not placing.done()
        held.release()
        placing.result(timeout=20)
    assert count_orders(kafka_faults.bootstrap, topic) == 1


def test_what_was_acknowledged_is_there(kafka_faults: KafkaFaults, topic: str) -> None:
    shop, counter = kafka_faults.history.client("shop"), kafka_faults.history.client("counter")
    with kafka_faults.on("Produce", topic=topic).delay(0.05).times(2):
        for number in ("order-1", "order-2"):
            sent = shop.send(topic, number)
            sent.acknowledged(*place_order(kafka_faults.bootstrap, number, topic))
    for order in read_orders(kafka_faults.bootstrap, topic):
        counter.read(topic, order.partition, order.offset, order.number)
    kafka_faults.history.assert_clean()


@pytest.mark.kafka_faults(brokers=1)
def test_a_wrong_topic_is_a_mistake_of_the_test(kafka_faults: KafkaFaults, topic: str) -> None:
    with (
        pytest.raises(FaultNotFiredError, match='not "ordres"'),
        kafka_faults.on("Produce", topic="ordres").disconnect(),
    ):
        place_order(kafka_faults.bootstrap, "order-1", topic)
