"""Sightings: what each client must see of each incident, at least.

Rules:
* One name of a set is enough: which one a client sees depends on its state at that moment.
* An incident is about one activity of clients: it "sends" records, "reads" as a member of a group, or "transacts".
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import cycle, pairwise
from typing import NamedTuple

from chaos.admin_answers import AdminLedgerEntry

JAVA, LIBRDKAFKA, KAFKA_PYTHON, AIOKAFKA = "java", "librdkafka", "kafka-python", "aiokafka"
CLIENTS = (JAVA, LIBRDKAFKA, KAFKA_PYTHON, AIOKAFKA)

THROTTLE = 2.0  # seconds that the incident "throttling" asks for


class Sighting(NamedTuple):
    """The names that each client may see during this activity."""

    activity: str
    seen: dict[str, set[str]]


def by_all(activity: str, *names: str, **others: set[str]) -> Sighting:
    """All clients see one of these names, except for the clients in `others`."""
    named = {name.replace("_", "-"): seen for name, seen in others.items()}
    return Sighting(activity, {client: named.get(client, set(names)) for client in CLIENTS})


NO_CONNECTION = {"KafkaConnectionError", "KafkaTimeoutError", "NodeNotReadyError", "REQUEST_TIMED_OUT", "TimeoutError"}
BROKEN = by_all(
    "sends",
    java={"NETWORK_EXCEPTION", "REQUEST_TIMED_OUT"},
    librdkafka={"_TRANSPORT", "_MSG_TIMED_OUT"},
    kafka_python=NO_CONNECTION,
    aiokafka=NO_CONNECTION,
)

SIGHTINGS = {
    "authorization-flap": by_all("sends", "TOPIC_AUTHORIZATION_FAILED"),
    "black-holed-broker": BROKEN,
    "broker-down": BROKEN,
    "connection-storm": BROKEN,
    "coordinator-move": by_all(
        "reads",
        java={"REQUEST_TIMED_OUT"},
        librdkafka={"NOT_COORDINATOR"},
        kafka_python={"KafkaTimeoutError"},
        aiokafka={"TimeoutError"},
    ),
    "disk-error": by_all("sends", "KAFKA_STORAGE_ERROR"),
    "fenced-transaction": by_all("transacts", "PRODUCER_FENCED", librdkafka={"_FENCED"}, aiokafka={"KafkaError"}),
    "heartbeat-starvation": by_all("reads", "rebalanced"),
    "isr-shrink": by_all("sends", "NOT_ENOUGH_REPLICAS"),
    "isr-shrink-after-append": by_all("sends", "NOT_ENOUGH_REPLICAS_AFTER_APPEND"),
    # Only Java fails a record with the last error that it saw; the others wait for a leader.
    "leader-election": by_all(
        "sends",
        java={"NOT_LEADER_OR_FOLLOWER", "REQUEST_TIMED_OUT"},
        librdkafka={"_MSG_TIMED_OUT", "late"},
        kafka_python={"NOT_LEADER_OR_FOLLOWER", "KafkaTimeoutError"},
        aiokafka={"LEADER_NOT_AVAILABLE", "NOT_LEADER_OR_FOLLOWER", "late"},
    ),
    # librdkafka retries even with retries turned off, since nothing was written.
    "leader-flap": by_all("sends", "NOT_LEADER_OR_FOLLOWER", librdkafka={"late", "_MSG_TIMED_OUT"}),
    "lost-acknowledgement": BROKEN,
    "network-cut": BROKEN,
    "offset-commit-lost": by_all(
        "reads",
        java={"REQUEST_TIMED_OUT"},
        librdkafka={"_TRANSPORT"},
        kafka_python={"KafkaTimeoutError"},
        aiokafka={"TimeoutError"},
    ),
    "offsets-expired": by_all("reads", "late"),
    # Connections end for a second only, and aiokafka retries for longer.
    "old-broker": Sighting("sends", BROKEN.seen | {AIOKAFKA: NO_CONNECTION | {"late"}}),
    "poison-batch": by_all(
        "reads",
        java={"KafkaException", "CORRUPT_MESSAGE"},
        librdkafka={"_BAD_MSG", "late"},
        kafka_python={"CORRUPT_MESSAGE"},
        aiokafka={"CORRUPT_MESSAGE"},
    ),
    "rebalance-storm": by_all("reads", "rebalanced"),
    "rolling-restart": BROKEN,
    "slow-broker": by_all("sends", "late"),
    "slow-consumer": by_all("reads", "late"),
    "smaller-limit": by_all("sends", "MESSAGE_TOO_LARGE"),
    "split-view": by_all("sends", "NOT_LEADER_OR_FOLLOWER", "late"),
    "stale-metadata": by_all("sends", "NOT_LEADER_OR_FOLLOWER", librdkafka={"late", "_MSG_TIMED_OUT"}),
    # Java and kafka-python send nothing for the throttle time; the others go on. librdkafka reports it to the user.
    "throttling": by_all("sends", "late", librdkafka={"throttled"}, aiokafka={"unheeded"}),
    "unknown-topic": by_all("sends", "UNKNOWN_TOPIC_OR_PARTITION", librdkafka={"_MSG_TIMED_OUT", "_UNKNOWN_PARTITION"}),
    "unstable-coordinator": by_all(
        "reads",
        java={"REQUEST_TIMED_OUT", "late"},
        librdkafka={"COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR"},
        kafka_python={"KafkaTimeoutError", "late"},
        aiokafka={"KafkaError", "TimeoutError", "late"},
    ),
    "unstable-transactions": by_all(
        "transacts",
        "late",
        librdkafka={"late", "_MSG_TIMED_OUT", "_TIMED_OUT"},
        kafka_python={"late", "KafkaTimeoutError"},
    ),
    "zombie-producer": by_all(
        "transacts", "INVALID_PRODUCER_EPOCH", librdkafka={"_FENCED"}, aiokafka={"ProducerFenced"}
    ),
}
# Incidents that all clients meet. Each other incident is met by one client, in turn; with `-m long` by all.
FOR_ALL = ("isr-shrink", "zombie-producer", "offset-commit-lost", "authorization-flap", "network-cut")
FOR_ONE = dict(zip(sorted(SIGHTINGS.keys() - FOR_ALL), cycle(CLIENTS)))


def is_unheeded(ledger: Iterable[AdminLedgerEntry]) -> bool:
    """Did a client send another request on a connection during its throttle time?"""
    throttled: dict[str | None, list[float]] = {}
    for entry in ledger:
        if entry.effect == "throttle" and entry.api == "Produce":
            throttled.setdefault(entry.connection, []).append(entry.time)
    return any(later - earlier < THROTTLE for times in throttled.values() for earlier, later in pairwise(times))
