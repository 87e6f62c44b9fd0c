from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
import trio
from structlog.testing import capture_logs

from proxy.core.topology import Endpoint, Topology
from proxy.net import upstream as module
from proxy.net.cluster_access import ClusterAccess
from proxy.net.complaints import AT_ONCE, Complaints
from proxy.net.upstream import Upstream
from proxy.telemetry.counters import NetworkCounters
from tests.proxy.net.scripted import LOOPBACK, PATIENCE, Broker
from tests.real.ports import free_port

KAFKA_2 = Endpoint("kafka-2", 9092)


class Learning:
    """An upstream and its topology; `round` waits for the next discovery."""

    def __init__(self, *bootstrap: Endpoint) -> None:
        self.topology = Topology(lambda node_id: Endpoint("proxy", 9193 + node_id))
        self.counters = NetworkCounters()
        self.upstream = Upstream(ClusterAccess("main", 5.0), bootstrap, self._discovered, self.counters, Complaints())
        self._round = trio.Event()

    async def _discovered(self, brokers: Mapping[int, Endpoint]) -> dict[int, Endpoint]:
        for node_id, real in brokers.items():
            self.topology.learn(node_id, *real)
        self._round.set()
        return {node_id: real for node_id, real in brokers.items() if node_id in self.topology.brokers}

    async def round(self) -> None:
        self._round = trio.Event()
        self.upstream.ask_again()
        with trio.fail_after(PATIENCE):
            await self._round.wait()


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SOONEST", 0.01)
    monkeypatch.setattr(module, "FIRST_RETRY", 0.01)
    monkeypatch.setattr(module, "LAST_RETRY", 0.02)


def lines(logs: Sequence[dict[str, object]], event: str) -> list[dict[str, object]]:
    return [line for line in logs if line["event"] == event]


async def test_whoever_stands_in_front_is_told_of_every_broker(nursery: trio.Nursery, broker: Broker) -> None:
    broker.told = {1: broker.endpoint, 2: KAFKA_2}
    learning = Learning(broker.endpoint)
    nursery.start_soon(learning.upstream.watch)
    await learning.upstream.known.wait()
    assert learning.topology.brokers[2].real == KAFKA_2
    assert learning.topology.brokers[2].advertised == Endpoint("proxy", 9195)


async def test_the_next_bootstrap_address_is_asked_when_one_is_dead(nursery: trio.Nursery, broker: Broker) -> None:
    learning = Learning(Endpoint(LOOPBACK, free_port(LOOPBACK)), broker.endpoint)
    nursery.start_soon(learning.upstream.watch)
    with trio.fail_after(PATIENCE):
        await learning.upstream.known.wait()


async def test_brokers_appear_and_leave(nursery: trio.Nursery, broker: Broker) -> None:
    learning = Learning(broker.endpoint)
    nursery.start_soon(learning.upstream.watch)
    await learning.upstream.known.wait()
    with capture_logs() as logs:
        broker.told = {1: broker.endpoint, 2: KAFKA_2}
        await learning.round()
        assert learning.upstream.brokers.keys() == {1, 2}
        del broker.told[2]
        await learning.round()
    assert learning.upstream.brokers.keys() == {1}
    assert learning.topology.brokers.keys() == {1, 2}  # its port and address stay
    (appeared,) = lines(logs, "broker appeared")
    assert (appeared["broker"], appeared["at"]) == (2, "kafka-2:9092")
    assert lines(logs, "broker left")[0]["broker"] == 2


async def test_a_broker_that_moved_is_learned_at_its_new_address(nursery: trio.Nursery, broker: Broker) -> None:
    broker.told = {1: broker.endpoint, 2: KAFKA_2}
    learning = Learning(broker.endpoint)
    nursery.start_soon(learning.upstream.watch)
    await learning.upstream.known.wait()
    broker.told[2] = Endpoint("elsewhere", 9092)
    await learning.round()
    assert learning.topology.brokers[2].real == Endpoint("elsewhere", 9092)
    assert learning.topology.brokers[2].advertised == Endpoint("proxy", 9195)


async def test_an_upstream_that_is_not_there_yet_is_waited_for_with_a_line_each_try(nursery: trio.Nursery) -> None:
    broker = Broker()
    broker.endpoint = Endpoint(LOOPBACK, free_port(LOOPBACK))
    learning = Learning(broker.endpoint)
    with capture_logs() as logs:
        nursery.start_soon(learning.upstream.watch)
        with trio.fail_after(PATIENCE):
            while learning.counters.failed_discovery < 3:
                await trio.lowlevel.checkpoint()
        await nursery.start(broker.serve)
        with trio.fail_after(PATIENCE):
            await learning.upstream.known.wait()
    said = lines(logs, "upstream unreachable")
    assert len(said) >= 3
    assert said[0]["tried"] == f"{broker.endpoint}: connection refused"
    assert said[0]["retry_in"] == "0.01s"
    assert said[1]["retry_in"] == "0.02s"


async def test_an_upstream_that_went_away_is_said_once_and_so_is_its_return(nursery: trio.Nursery) -> None:
    broker = Broker()
    await nursery.start(broker.serve)
    learning = Learning(broker.endpoint)
    nursery.start_soon(learning.upstream.watch)
    await learning.upstream.known.wait()
    with capture_logs() as logs:
        broker.die()
        learning.upstream.ask_again()
        with trio.fail_after(PATIENCE):
            while learning.counters.failed_discovery < 4:
                await trio.lowlevel.checkpoint()
        again = Broker()
        again.endpoint = broker.endpoint
        await nursery.start(again.serve)
        await learning.round()
    assert len(lines(logs, "upstream unreachable")) == 1
    assert len(lines(logs, "upstream reachable again")) == 1


async def test_a_list_of_brokers_that_alternates_is_few_lines(nursery: trio.Nursery, broker: Broker) -> None:
    learning = Learning(broker.endpoint)
    nursery.start_soon(learning.upstream.watch)
    await learning.upstream.known.wait()
    with capture_logs() as logs:
        for number in range(6):
            first = 10 + number % 2 * 100
            broker.told = {1: broker.endpoint, **dict.fromkeys(range(first, first + 50), KAFKA_2)}
            await learning.round()
        await learning.round()
    assert [len(lines(logs, event)) for event in ("broker appeared", "broker left")] == [AT_ONCE, AT_ONCE]


async def test_an_upstream_that_comes_and_goes_is_few_lines(nursery: trio.Nursery) -> None:
    broker = Broker()
    await nursery.start(broker.serve)
    learning = Learning(broker.endpoint)
    nursery.start_soon(learning.upstream.watch)
    await learning.upstream.known.wait()
    with capture_logs() as logs:
        for _ in range(4):
            broker.die()
            learning.upstream.ask_again()
            failed = learning.counters.failed_discovery
            with trio.fail_after(PATIENCE):
                while learning.counters.failed_discovery == failed:
                    await trio.lowlevel.checkpoint()
            again = Broker()
            again.endpoint = broker.endpoint
            await nursery.start(again.serve)
            await learning.round()
            broker = again
    assert [len(lines(logs, f"upstream {event}")) for event in ("unreachable", "reachable again")] == [1, 1]


async def test_clients_begin_at_another_broker_each_time() -> None:
    learning = Learning(Endpoint("bootstrap", 9092))
    learning.upstream.brokers = {number: Endpoint(f"kafka-{number}", 9092) for number in (1, 2, 3)}
    firsts = [next(learning.upstream.anybody()).host for _ in range(6)]
    assert sorted(firsts) == ["kafka-1", "kafka-1", "kafka-2", "kafka-2", "kafka-3", "kafka-3"]
    assert len(list(learning.upstream.anybody())) == 4


async def test_the_bootstrap_addresses_are_among_the_first_however_many_brokers_are_known() -> None:
    """If all known brokers are gone, the others are found there."""
    learning = Learning(Endpoint("bootstrap", 9092))
    learning.upstream.brokers = {number: Endpoint(f"kafka-{number}", 9092) for number in range(100)}
    assert {[*learning.upstream.anybody()][1].host for _ in range(200)} == {"bootstrap"}


async def test_brokers_that_answer_only_whom_they_know_are_not_asked_again_and_again(
    nursery: trio.Nursery, broker: Broker
) -> None:
    broker.closes_on = {"Metadata"}
    learning = Learning(broker.endpoint)
    with capture_logs() as logs:
        nursery.start_soon(learning.upstream.watch)
        await learning.upstream.known.wait()
        with trio.move_on_after(0.2) as waited:
            await learning.round()
    assert waited.cancelled_caught
    assert [api for api, _ in broker.asked].count("Metadata") == 1
    assert len(lines(logs, "brokers not discovered")) == 1


async def test_brokers_that_answer_after_all_are_learned(
    nursery: trio.Nursery, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RARELY", 0.05)
    broker.closes_on = {"Metadata"}
    learning = Learning(broker.endpoint)
    nursery.start_soon(learning.upstream.watch)
    await learning.upstream.known.wait()
    broker.closes_on = ()
    with trio.fail_after(PATIENCE):
        while not learning.topology.brokers:
            await trio.lowlevel.checkpoint()
    assert broker.node_id in learning.topology.brokers
