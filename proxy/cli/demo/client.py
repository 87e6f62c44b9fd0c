"""The client: confluent-kafka. It knows only the proxy's address, and reports its own statistics."""

import json
from collections import Counter, defaultdict
from typing import Any

from confluent_kafka import Consumer, Message, Producer, TopicPartition

from chaos.notes import ClientHistory
from proxy.cli.demo.stage import NotSeen

TOPIC = "orders"
SECRET = "secrets"
FAULTED = "payments"
SECONDS = 30.0
STATISTICS_EVERY = 100  # milliseconds


class Traffic:
    """A client's requests by its own statistics: counts by API, for each address that it talked to."""

    def __init__(self) -> None:
        self._latest: dict[str, dict[str, Any]] = {}  # by client: its latest report; its counts only grow

    def note(self, statistics: str) -> None:
        """Take in one report of librdkafka's statistics."""
        report = json.loads(statistics)
        self._latest[report["name"]] = report["brokers"]

    @property
    def requests(self) -> dict[str, Counter[str]]:
        """How many requests of each kind went to each address."""
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for brokers in self._latest.values():
            for broker in brokers.values():
                counts[broker["nodename"]].update({api: count for api, count in broker["req"].items() if count})
        return {address: sent for address, sent in counts.items() if sent}


def configuration(bootstrap: str, traffic: Traffic) -> dict[str, Any]:
    """The configuration that any client of the proxy needs: the proxy's address."""
    return {
        "bootstrap.servers": bootstrap,
        "stats_cb": traffic.note,
        "statistics.interval.ms": STATISTICS_EVERY,
        "log_level": 0,
    }


def produce(producer: Producer, messages: list[bytes]) -> Counter[int]:
    """Write all messages. Returns how many were acknowledged in each partition. Raises NotSeen."""
    acknowledged = Counter[int]()
    errors: list[str] = []

    def delivered(error: object, message: Any) -> None:
        if error is not None:
            errors.append(str(error))
        else:
            acknowledged[message.partition()] += 1

    for message in messages:
        producer.produce(TOPIC, message, key=message, on_delivery=delivered)
    left = producer.flush(SECONDS)
    if errors or left or acknowledged.total() != len(messages):
        why = errors[0] if errors else f"{left} are waiting after {SECONDS:g} s"
        raise NotSeen(f"an acknowledgement of each of {len(messages)} messages: {why}")
    return acknowledged


def refused(producer: Producer) -> str:
    """Try to write to the topic that a rule denies. Returns the name of the resulting error. Raises NotSeen."""
    errors: list[str] = []
    producer.produce(SECRET, b"a secret", on_delivery=lambda error, _: errors.append(error.name() if error else ""))
    if producer.flush(SECONDS):
        raise NotSeen(f"an answer to a message for {SECRET!r} within {SECONDS:g} s")
    return errors[0]


def write_once(bootstrap: str, traffic: Traffic, notes: ClientHistory, text: str) -> int:
    """Write one message to the faults' topic and note it. Returns its partition. Raises NotSeen."""
    # With idempotence, which other clients have by default, the broker would recognize the message when it is retried.
    producer = Producer(configuration(bootstrap, traffic) | {"enable.idempotence": False})
    sent = notes.send(FAULTED, text)
    told: list[tuple[Any, Any]] = []
    producer.produce(FAULTED, text.encode(), on_delivery=lambda error, message: told.append((error, message)))
    if producer.flush(SECONDS) or told[0][0] is not None:
        raise NotSeen(f"an acknowledgement after one was lost; the client was told {told[0][0] if told else 'nothing'}")
    ((_, message),) = told
    sent.acknowledged(message.partition(), message.offset())
    partition: int = message.partition()
    return partition


def consume(
    bootstrap: str, traffic: Traffic, partitions: list[int], expected: int, topic: str = TOPIC
) -> list[Message]:
    """Read the partitions from their beginning until `expected` messages came. Raises NotSeen."""
    consumer = Consumer(configuration(bootstrap, traffic) | {"group.id": "demo", "enable.auto.commit": False})
    try:
        consumer.assign([TopicPartition(topic, partition, 0) for partition in partitions])
        found: list[Message] = []
        while len(found) < expected:
            message = consumer.poll(SECONDS)
            if message is None:
                raise NotSeen(f"message {len(found) + 1} of {expected} within {SECONDS:g} s")
            if message.error():
                raise NotSeen(f"message {len(found) + 1} of {expected}: {message.error()}")
            found.append(message)
        consumer.poll(3 * STATISTICS_EVERY / 1000)  # for the last report of its statistics
        return found
    finally:
        consumer.close()
