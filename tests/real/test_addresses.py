"""No client ever receives a broker's own address. The relay searches every byte of all other scenarios too."""

from __future__ import annotations

import socket

import pytest
from confluent_kafka.admin import AdminClient

from tests.real.cluster import Cluster
from tests.real.doorkeeper import ADVERTISED, Doorkeeper
from tests.real.ports import free_port
from tests.real.relay import Reader, Relay, forbidden, wire_address
from tests.real.topics import settings
from tests.real.way import Way

BROKERS = [("127.0.0.11", 20011)]


@pytest.mark.parametrize(
    "told",
    [
        wire_address("127.0.0.11", 20011),
        wire_address("127.0.0.11", 9092),  # the host alone is a leak
        wire_address(ADVERTISED, 20011),  # and so is the port
        b"PLAINTEXT://127.0.0.11:20011",
        b"advertised.listeners=127.0.0.1:20011",
    ],
)
def test_an_address_is_found_however_the_bytes_are_cut(told: bytes) -> None:
    pattern = forbidden(BROKERS, ADVERTISED)
    stream = b"x" * 300 + told + b"y" * 300
    for size in (1, 7, 128, 1000):
        reader = Reader(pattern)
        pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
        assert [found for piece in pieces for found in reader.read(piece)]


@pytest.mark.parametrize("told", [wire_address(ADVERTISED, 20012), b"127.0.0.110", b"127.0.0.1:200110", b"10.0.0.11"])
def test_other_addresses_are_none_of_its_business(told: bytes) -> None:
    assert not list(Reader(forbidden(BROKERS, ADVERTISED)).read(told))


@pytest.mark.real
def test_the_relay_finds_the_addresses_that_a_broker_tells(cluster: Cluster) -> None:
    port = free_port(ADVERTISED)
    broker = cluster.brokers[1]
    with Relay(ADVERTISED, broker.host, {port: broker.port}, forbidden(cluster.endpoints, ADVERTISED)) as relay:
        way = Way("direct", f"{ADVERTISED}:{port}", {})
        AdminClient(settings(way)).list_topics(timeout=30)
    assert {host.encode() for host, _ in cluster.endpoints} <= {word for leak in relay.leaks for word in hosts(leak)}


def hosts(leak: bytes) -> list[bytes]:
    return [host for host in (b"127.0.0.11", b"127.0.0.12", b"127.0.0.13") if host in leak]


@pytest.mark.real
def test_clients_reach_every_broker_at_the_advertised_address(doorkeeper: Doorkeeper) -> None:
    told = AdminClient(settings(doorkeeper.way)).list_topics(timeout=30).brokers
    assert {f"{broker.host}:{broker.port}": node_id for node_id, broker in told.items()} == doorkeeper.way.nodes
    for broker in told.values():
        socket.create_connection((broker.host, broker.port), timeout=10).close()
    assert doorkeeper.relay.sent_to_clients
    assert not doorkeeper.relay.leaks
