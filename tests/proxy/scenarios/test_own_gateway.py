from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from confluent_kafka import Producer

from chaos.admin_answers import AdminError
from proxy.config.values import HostPort
from proxy.scenarios.own_gateway import OwnGateway, OwnGatewayError, own_gateway
from tests.mock_brokers import mock_brokers

LONG = 60.0  # seconds


def test_it_is_in_front_of_the_cluster_and_gone_after_its_block() -> None:
    with mock_brokers(1) as broker, own_gateway([HostPort.parse(broker)]) as gateway:
        client = Producer({"bootstrap.servers": gateway.bootstrap, "log_level": 0})
        assert client.list_topics(timeout=LONG).brokers.keys() == {1}
        assert gateway.admin.faults().faults == ()
    with pytest.raises(AdminError, match="does not answer"):
        gateway.admin.faults()
    host, _, port = gateway.bootstrap.rpartition(":")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)))


def test_why_it_does_not_get_ready_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOORKEEPER_FAULTS_REPLAY", "nowhere.ledger")
    with pytest.raises(OwnGatewayError, match=r"nowhere\.ledger"), own_gateway([HostPort("127.0.0.1", 1)]):
        pass


def test_a_cluster_that_is_not_reached_in_time_is_told_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proxy.scenarios.own_gateway.PATIENCE", 3.0)
    told = r"^the cluster was not reached within 3 s; see that a broker is there, and correct the address if not; the"
    with pytest.raises(OwnGatewayError, match=told), own_gateway([HostPort("127.0.0.1", 1)]):
        pass


def test_several_that_start_at_the_same_time_have_ports_of_their_own() -> None:
    with mock_brokers(1) as broker, ExitStack() as opened, ThreadPoolExecutor() as threads:

        def start(_: int) -> OwnGateway:
            return opened.enter_context(own_gateway([HostPort.parse(broker)]))

        gateways = list(threads.map(start, range(2)))
        assert len({gateway.bootstrap for gateway in gateways}) == 2
        gateways[0].admin.add({"name": "slow", "do": {"delay": "20ms"}})
        assert gateways[1].admin.faults().faults == ()
