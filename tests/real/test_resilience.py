"""Brokers fail while clients are at work: the clients recover, and no acknowledged record is lost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager

import pytest
from kafka import KafkaAdminClient, TopicPartition

from tests.real.cluster import Cluster
from tests.real.java_clients import JavaClients
from tests.real.load import Aiokafka, Client, Confluent, Java, KafkaPython, Load, everything
from tests.real.records import patiently
from tests.real.topics import create
from tests.real.way import Way

WAYS = [pytest.param("direct", marks=pytest.mark.long), "proxy"]  # without the proxy it shows what a cluster does alone
pytestmark = [pytest.mark.real, pytest.mark.parametrize("way", WAYS, indirect=True)]


@pytest.fixture(scope="module")
def java() -> Iterator[JavaClients]:
    with closing(JavaClients("4.4.0")) as clients:
        yield clients


@pytest.fixture
def whole_cluster(cluster: Cluster) -> Iterator[Cluster]:
    """All brokers are up again afterwards."""
    yield cluster
    cluster.heal()


@contextmanager
def under_load(way: Way, java: JavaClients, word: str) -> Iterator[list[Load]]:
    """Run every library, each on its own topic; in the end all its records are there, once."""
    kinds: dict[str, type[Client]] = {"rd": Confluent, "kp": KafkaPython, "aio": Aiokafka}
    topics = {name: create(way, f"{word}-{name}", min_insync_replicas="2") for name in (*kinds, "java")}
    clients = [kind(way, topics[name]) for name, kind in kinds.items()]
    clients.append(Java(way, topics["java"], java))
    with ExitStack() as stack:
        loads = [stack.enter_context(Load(client)) for client in clients]
        for load in loads:
            load.goes_on()
        yield loads
        for load in loads:
            load.goes_on()
        for load in loads:
            load.settles()
    for load in loads:
        found = everything(way, load.client.topic, len(load.acknowledged))
        assert not set(load.acknowledged) - set(found), f"{load.client.topic}: acknowledged records are lost"
        assert not [value for value, times in found.items() if times > 1], f"{load.client.topic}: records are doubled"


def test_a_broker_killed_and_restarted_under_load_loses_nothing(
    way: Way, java: JavaClients, whole_cluster: Cluster
) -> None:
    with under_load(way, java, "killed") as loads:
        whole_cluster.brokers[2].kill()
        for load in loads:
            load.goes_on()
        whole_cluster.brokers[2].restart()


def test_leaders_that_move_under_load_are_found(way: Way, java: JavaClients, cluster: Cluster) -> None:
    with under_load(way, java, "moved") as loads, closing(KafkaAdminClient(bootstrap_servers=way.bootstrap)) as admin:
        for leader in (1, 2, 3):
            replicas = [leader, *({1, 2, 3} - {leader})]
            topics = [load.client.topic for load in loads]
            places = {TopicPartition(topic, number): replicas for topic in topics for number in range(3)}
            admin.alter_partition_reassignments(places)
            admin.elect_leaders(0, {topic: [0, 1, 2] for topic in topics}, raise_errors=False)
            for _ in patiently(f"broker {leader} leads every partition"):
                described = admin.describe_topics(topics)
                if {p["leader_id"] for topic in described for p in topic["partitions"]} == {leader}:
                    break
            for load in loads:
                load.goes_on()


def test_partitions_added_under_load_are_used(way: Way, java: JavaClients, cluster: Cluster) -> None:
    with under_load(way, java, "grown") as loads, closing(KafkaAdminClient(bootstrap_servers=way.bootstrap)) as admin:
        admin.create_partitions({load.client.topic: 9 for load in loads})
        places = [TopicPartition(load.client.topic, number) for load in loads for number in range(3, 9)]
        for _ in patiently("records in each new partition"):
            for load in loads:
                load.goes_on()
            ends = admin.list_partition_offsets(dict.fromkeys(places, -1))
            if all(end.offset > 0 for end in ends.values()):
                break
