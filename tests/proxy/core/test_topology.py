"""Topology: every broker keeps the address that clients received for it."""

import pytest

from proxy.core.topology import NOWHERE, Broker, Endpoint, RefusedBroker, Topology


def watched() -> tuple[Topology, list[Broker], list[Broker]]:
    appeared: list[Broker] = []
    moved: list[Broker] = []
    return Topology(lambda node: Endpoint("proxy", 9193 + node), appeared.append, moved.append), appeared, moved


def test_a_broker_is_announced_once_and_told_by_its_advertised_address() -> None:
    topology, appeared, moved = watched()
    assert topology.learn(2, "kafka-2", 9092) == Endpoint("proxy", 9195)
    assert topology.learn(2, "kafka-2", 9092) == Endpoint("proxy", 9195)
    assert appeared == [Broker(2, Endpoint("kafka-2", 9092), Endpoint("proxy", 9195))]
    assert moved == []


def test_a_broker_that_moved_keeps_its_advertised_address() -> None:
    topology, appeared, moved = watched()
    topology.learn(2, "kafka-2", 9092)
    assert topology.learn(2, "elsewhere", 9092) == Endpoint("proxy", 9195)
    assert len(appeared) == 1
    assert moved == [Broker(2, Endpoint("elsewhere", 9092), Endpoint("proxy", 9195))]


@pytest.mark.parametrize(
    ("node_id", "host", "port"),
    [
        (-1, "kafka", 9092),
        (1, "a..b", 9092),
        (1, "", 9092),
        (1, "kafka", 0),
        (1, "kafka", 70_000),
        (-5, "x" * 9999, -1),
    ],
)
def test_what_cannot_be_a_broker_is_told_as_nobody(node_id: int, host: str, port: int) -> None:
    refused: list[RefusedBroker] = []
    topology = Topology(lambda node: Endpoint("proxy", 9193 + node), refused=refused.append)
    assert topology.learn(node_id, host, port) == Endpoint("proxy", NOWHERE)
    assert topology.brokers == {}
    assert [each.node_id for each in refused] == [node_id]


def test_a_broker_whose_new_address_cannot_be_stays_where_it_was() -> None:
    topology, _, moved = watched()
    topology.learn(2, "kafka-2", 9092)
    assert topology.learn(2, "kafka-2", -1) == Endpoint("proxy", 9195)
    assert topology.brokers[2].real == Endpoint("kafka-2", 9092)
    assert moved == []


def test_what_must_not_move_brokers_still_tells_of_new_ones() -> None:
    topology, appeared, moved = watched()
    topology.learn(2, "kafka-2", 9092)
    assert topology.learn(2, "former-2", 9092, moves=False) == Endpoint("proxy", 9195)
    assert topology.brokers[2].real == Endpoint("kafka-2", 9092)
    assert topology.learn(3, "kafka-3", 9092, moves=False) == Endpoint("proxy", 9196)
    assert [each.node_id for each in appeared] == [2, 3]
    assert moved == []


def test_one_broker_more_than_there_may_be_is_told_as_nobody_until_another_is_forgotten() -> None:
    refused: list[RefusedBroker] = []
    topology = Topology(lambda node: Endpoint("proxy", 9193 + node), refused=refused.append, most=2)
    for node_id in (1, 2, 3):
        topology.learn(node_id, "kafka", 9092 + node_id)
    assert topology.brokers.keys() == {1, 2}
    assert [(each.node_id, each.over) for each in refused] == [(3, True)]
    assert topology.learn(2, "elsewhere", 9092) == Endpoint("proxy", 9195)  # the broker is known
    topology.forget(1)
    assert topology.learn(3, "kafka", 9095) == Endpoint("proxy", 9196)


def test_a_broker_without_a_port_is_told_as_nobody_until_it_has_one() -> None:
    port = NOWHERE
    topology = Topology(lambda node: Endpoint("proxy", port))
    assert topology.learn(2, "kafka-2", 9092) == Endpoint("proxy", NOWHERE)
    port = 9195
    topology.readvertise(2)
    assert topology.learn(2, "kafka-2", 9092) == Endpoint("proxy", 9195)


def test_an_ipv6_endpoint_is_written_in_brackets() -> None:
    assert str(Endpoint("::1", 9092)) == "[::1]:9092"
    assert str(Endpoint("kafka", 9092)) == "kafka:9092"
