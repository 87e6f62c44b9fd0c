"""Placing orders."""

from __future__ import annotations

import uuid
from typing import Any

from confluent_kafka import Producer

SECONDS = 20.0


class NotPlacedError(Exception):
    """The order was refused, or it is not known whether it was written."""


def place_order(bootstrap: str, number: str = "", topic: str = "orders", partition: int = -1) -> tuple[int, int]:
    """Write one order, and wait until Kafka has it. Returns its partition and offset.

    Without a number it gets one of its own. Partition -1 is any. Raises NotPlacedError.
    """
    number = number or str(uuid.uuid4())
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "client.id": "shop",
            "log_level": 0,
            "retry.backoff.ms": 50,
            "reconnect.backoff.max.ms": 200,
            "message.timeout.ms": int(SECONDS * 1000),
        }
    )
    told: list[tuple[Any, Any]] = []
    producer.produce(
        topic, number.encode(), partition=partition, on_delivery=lambda error, message: told.append((error, message))
    )
    producer.flush(SECONDS + 1)
    if not told:
        raise NotPlacedError(f"order {number}: no word within {SECONDS:g} s")
    ((error, message),) = told
    if error is not None:
        raise NotPlacedError(f"order {number}: {error}")
    return message.partition(), message.offset()
