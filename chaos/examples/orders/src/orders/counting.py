"""Counting orders: one that was written twice is one order."""

from __future__ import annotations

import os
from typing import NamedTuple

from confluent_kafka import OFFSET_END, Consumer, TopicPartition

SECONDS = 20.0
KAFKA = "ORDERS_KAFKA"  # the environment says where the shop's Kafka is


class Order(NamedTuple):
    """One record of the topic."""

    partition: int
    offset: int
    number: str


def read_orders(bootstrap: str, topic: str = "orders") -> list[Order]:
    """All records of the topic, from the first to the present last one."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "client.id": "counter", "group.id": "counter", "log_level": 0})
    try:
        found: list[Order] = []
        for partition in consumer.list_topics(topic, timeout=SECONDS).topics[topic].partitions:
            _, end = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=SECONDS)
            consumer.assign([TopicPartition(topic, partition, 0 if end else OFFSET_END)])
            while end and (not found or found[-1].partition != partition or found[-1].offset + 1 < end):
                message = consumer.poll(SECONDS)
                if message is None or message.error():
                    raise TimeoutError(f"{topic}-{partition}: {message.error() if message else 'nothing'} before {end}")
                found.append(Order(partition, message.offset() or 0, (message.value() or b"").decode()))
        return found
    finally:
        consumer.close()


def count_orders(bootstrap: str = "", topic: str = "orders") -> int:
    """How many different orders there are. Without a bootstrap: in the Kafka that the environment names."""
    return len({order.number for order in read_orders(bootstrap or os.environ[KAFKA], topic)})
