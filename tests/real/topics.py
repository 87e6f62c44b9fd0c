"""Topics for scenarios, always created with librdkafka."""

from __future__ import annotations

from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.real.records import PATIENCE
from tests.real.way import Way


def settings(way: Way, **more: Any) -> dict[str, Any]:
    """librdkafka's settings from keywords, with dots for underscores."""
    return {"bootstrap.servers": way.bootstrap, "log_level": 0, **{key.replace("_", "."): more[key] for key in more}}


def create(way: Way, topic: str, partitions: int = 3, **config: str) -> str:
    """Create a topic for this way alone; gives its name."""
    name = way.unique(topic)
    config = {key.replace("_", "."): value for key, value in config.items()}
    admin = AdminClient(settings(way))
    admin.create_topics([NewTopic(name, partitions, 3, config=config)], operation_timeout=30)[name].result()
    return name


def create_led(way: Way, topic: str) -> str:
    """Create a topic of one partition whose leader has acknowledged a record, the first one; gives its name.

    A broker may be named as the leader before it has begun to lead. It drops records with acks=0 until then.
    """
    name = create(way, topic, partitions=1)
    errors: list[object] = []
    producer = Producer(settings(way, acks="all"))
    producer.produce(name, b"the first", on_delivery=lambda error, _: errors.append(error))
    assert producer.flush(PATIENCE) == 0
    assert errors == [None]
    return name
