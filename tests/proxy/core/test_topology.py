"""Topology: every broker keeps the address that its clients were told."""

from proxy.core.topology import Broker, Endpoint, Topology


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


def test_an_id_that_was_never_seen_is_never_told() -> None:
    topology, *_ = watched()
    assert topology.advertised(7) is None
    topology.learn(7, "kafka-7", 9092)
    assert topology.advertised(7) == Endpoint("proxy", 9200)


def test_the_way_back_leads_to_the_real_address() -> None:
    topology, *_ = watched()
    topology.learn(1, "kafka-1", 9092)
    assert topology.real("proxy", 9194) == Endpoint("kafka-1", 9092)
    assert topology.real("kafka-1", 9092) is None


def test_an_ipv6_endpoint_is_written_in_brackets() -> None:
    assert str(Endpoint("::1", 9092)) == "[::1]:9092"
    assert str(Endpoint("kafka", 9092)) == "kafka:9092"
