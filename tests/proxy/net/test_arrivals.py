from __future__ import annotations

import socket
from contextlib import ExitStack

import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import wait_all_tasks_blocked

from proxy.config.plugin_classes import BUILT_IN
from proxy.core.decisions import Disconnect, How, Steps, Wait
from proxy.core.signal import Signal
from proxy.core.topology import Endpoint
from proxy.net import reactor, upstream
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from tests.proxy.net.refusing import PLACE, Refusing
from tests.proxy.net.scripted import LOOPBACK, PATIENCE, Broker, configuration, connected, port_of, serving
from tests.proxy.net.test_reactor import pair
from tests.real.ports import free_port


async def test_a_broker_that_refuses_costs_the_client_its_connection_at_once(broker: Broker) -> None:
    dead = Endpoint(LOOPBACK, free_port(LOOPBACK))
    broker.told = {1: broker.endpoint, 2: dead}
    config = configuration(broker.endpoint)
    with capture_logs() as logs:
        async with serving(config) as gateway, connected(LOOPBACK, port_of(config, 2)) as client:
            assert await client.is_closed()
            assert gateway.counters.failed_dial == 1
            assert gateway.counters.open == 0
    (line,) = [line for line in logs if line["event"] == "broker unreachable"]
    assert line["why"] == f"{dead}: connection refused"
    assert line["broker"] == 2
    assert line["client"].startswith(LOOPBACK)


async def test_a_broker_that_stalls_costs_the_client_its_connection_after_the_time_to_dial(broker: Broker) -> None:
    with ExitStack() as stack:
        full = stack.enter_context(socket.create_server((LOOPBACK, 0), backlog=0))
        for _ in range(2):  # these fill its queue: what comes now gets no answer
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        broker.told = {1: broker.endpoint, 2: Endpoint(*full.getsockname())}
        config = configuration(broker.endpoint, limits={"dial": "200ms"})
        with capture_logs() as logs:
            async with serving(config) as gateway, connected(LOOPBACK, port_of(config, 2)) as client:
                assert await client.is_closed()
                assert gateway.counters.slow_dial == 1
        assert any("no answer within 0.2 s" in line.get("why", "") for line in logs)


async def test_a_client_that_begins_at_the_bootstrap_port_gets_a_broker_that_lives(broker: Broker) -> None:
    broker.told = {1: broker.endpoint, 2: Endpoint(LOOPBACK, free_port(LOOPBACK))}
    config = configuration(broker.endpoint)
    async with serving(config):
        for _ in range(4):  # each begins with another broker
            async with connected(LOOPBACK, port_of(config)) as client:
                assert await client.beat() == 0


async def test_a_broker_that_an_answer_puts_where_nobody_is_is_found_where_discovery_found_it(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upstream, "SOONEST", 3_600.0)  # no further discovery
    config = configuration(broker.endpoint)
    async with serving(config), connected(LOOPBACK, port_of(config, 1)) as client:
        for _ in range(2):  # that the first lie is not what the second one falls back to
            broker.told = {1: Endpoint(LOOPBACK, free_port(LOOPBACK))}
            await client.ask(MetadataRequest(topics=[]), MetadataResponse)
            async with connected(LOOPBACK, port_of(config, 1)) as another:
                assert await another.beat() == 0


async def test_one_connection_over_the_limit_is_closed_at_once(broker: Broker) -> None:
    config = configuration(broker.endpoint, limits={"connections": 2})
    port = port_of(config, 1)
    with capture_logs() as logs:
        async with serving(config) as gateway:
            async with connected(LOOPBACK, port) as one, connected(LOOPBACK, port) as two:
                assert [await one.beat(), await two.beat()] == [0, 0]
                for _ in range(3):
                    async with connected(LOOPBACK, port) as over:
                        assert await over.is_closed()
                assert await one.beat() == 0
                assert gateway.counters.over_connections == 3
            with trio.fail_after(PATIENCE):
                while gateway.counters.open:
                    await trio.lowlevel.checkpoint()
            async with connected(LOOPBACK, port) as again:
                assert await again.beat() == 0
    (line,) = [line for line in logs if line["event"] == "connection refused"]  # not three: they come again at once
    assert line["why"] == "2 are open (limits.connections)"


async def test_a_client_that_leaves_while_its_broker_is_dialled_is_forgotten(broker: Broker) -> None:
    config = configuration(broker.endpoint)
    async with serving(config) as gateway:
        for _ in range(20):
            async with connected(LOOPBACK, port_of(config, 1)):
                pass
        with trio.fail_after(PATIENCE):
            while gateway.counters.accepted < 20 or gateway.counters.open:
                await trio.lowlevel.checkpoint()


async def test_a_client_that_comes_in_does_not_wait_while_the_reactor_lingers(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = configuration(broker.endpoint)
    async with serving(config):
        with monkeypatch.context() as patched:
            patched.setattr("proxy.net.serving.LINGER", 10.0)
            patched.setattr(reactor, "COMING_IN", 600.0)
            began = trio.current_time()
            for _ in range(2):
                async with connected(LOOPBACK, port_of(config, 1)) as client:
                    assert await client.beat() == 0
            assert trio.current_time() - began < 10.0


async def test_a_client_that_was_accepted_when_its_listener_went_is_closed_and_that_is_all(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs, ours = pair()
    async with serving(configuration(broker.endpoint)) as gateway:
        (listener,) = gateway._worker.listeners
        with theirs, monkeypatch.context() as patched:
            listener.acceptor.accepted(ours, theirs.getsockname(), None)
            patched.setattr(gateway.snapshot, "listeners", {})  # its task has not begun yet
            listener.shut()
            await wait_all_tasks_blocked()
            assert theirs.recv(1) == b""
        assert (gateway.counters.open, gateway.counters.failed_tasks) == (0, 0)


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> type[Refusing]:
    monkeypatch.setitem(BUILT_IN, "refusing", PLACE)
    monkeypatch.setattr(Refusing, "came", [])
    monkeypatch.setattr(Refusing, "moments", [])
    monkeypatch.setattr(Refusing, "ended", [])
    monkeypatch.setattr(Refusing, "decides", None)
    return Refusing


async def test_a_plugin_lets_clients_come_or_refuses_them_before_a_broker_is_dialled(
    broker: Broker, refusing: type[Refusing]
) -> None:
    broker.told = {1: broker.endpoint, 2: Endpoint(LOOPBACK, free_port(LOOPBACK))}
    config = configuration(broker.endpoint, plugins=["refusing"])
    with capture_logs() as logs:
        async with serving(config) as gateway, connected(LOOPBACK, port_of(config, 1)) as client:
            assert await client.beat() == 0
            refusing.decides = Disconnect("broker 2 is down", How.RESET)
            async with connected(LOOPBACK, port_of(config, 2)) as refused:
                with pytest.raises(trio.BrokenResourceError):  # reset
                    await refused.stream.receive_some(1)
            assert await client.beat() == 0
            assert gateway.counters.open == 1
            assert gateway.counters.failed_dial == 0
    assert [(arrival.listener, arrival.cluster, arrival.broker_id) for arrival in refusing.came] == [
        ("clients", "main", 1),
        ("clients", "main", 2),
    ]
    (line,) = [line for line in logs if line["event"] == "connection refused"]
    assert line["why"] == "broker 2 is down"


async def test_time_goes_on_for_plugins_where_nobody_is_let_in(broker: Broker, refusing: type[Refusing]) -> None:
    refusing.decides = Disconnect("down")
    config = configuration(broker.endpoint, plugins=["refusing"])
    async with serving(config):
        for _ in range(2):
            async with connected(LOOPBACK, port_of(config, 1)) as client:
                assert await client.is_closed()
    first, second = refusing.moments
    assert first < second


async def test_a_plugin_that_fails_when_a_client_is_accepted_costs_it_its_connection(
    broker: Broker, refusing: type[Refusing]
) -> None:
    config = configuration(broker.endpoint, plugins=["refusing"])
    refusing.decides = "come in"
    with capture_logs() as logs:
        async with serving(config) as gateway, connected(LOOPBACK, port_of(config, 1)) as client:
            assert await client.is_closed()
            assert gateway.counters.open == 0
    (line,) = [line for line in logs if line["event"] == "handler failed"]
    assert (line["why"], line["error"]) == ("Refusing.accepted failed", "NoDecisionError")


async def test_a_client_that_waits_to_be_admitted_counts_and_is_forgotten_when_it_leaves(
    broker: Broker, refusing: type[Refusing]
) -> None:
    def waits() -> Steps:
        yield Wait(Signal())
        return None

    config = configuration(broker.endpoint, plugins=["refusing"], limits={"connections": 1})
    refusing.decides = staticmethod(waits)
    async with serving(config) as gateway:
        async with connected(LOOPBACK, port_of(config, 1)):
            async with connected(LOOPBACK, port_of(config, 1)) as over:
                assert await over.is_closed()
            assert gateway.counters.open == 1
        with trio.fail_after(PATIENCE):
            while gateway.counters.open:
                await trio.lowlevel.checkpoint()


async def test_plugins_are_told_once_of_each_connection_that_is_not_served(
    broker: Broker, refusing: type[Refusing]
) -> None:
    dead = Endpoint(LOOPBACK, free_port(LOOPBACK))
    broker.told = {1: broker.endpoint, 2: dead}
    config = configuration(broker.endpoint, plugins=["refusing"], limits={"connections": 2})
    async with serving(config) as gateway, connected(LOOPBACK, port_of(config, 1)) as client:
        assert await client.beat() == 0
        async with connected(LOOPBACK, port_of(config, 2)) as unreachable:
            assert await unreachable.is_closed()
        refusing.decides = Disconnect("not you")
        async with connected(LOOPBACK, port_of(config, 1)) as refused:
            assert await refused.is_closed()
        refusing.decides = None
        async with connected(LOOPBACK, port_of(config, 1)) as another:
            assert await another.beat() == 0
            async with connected(LOOPBACK, port_of(config, 1)) as over:
                assert await over.is_closed()
        assert gateway.counters.accepted == 4
    assert [(one.arrival.broker_id, one.why) for one in refusing.ended] == [
        (2, f"broker unreachable: {dead}: connection refused"),
        (1, "not you"),
        (1, "2 are open (limits.connections)"),
    ]


async def test_a_plugin_that_fails_to_be_told_is_counted_and_harms_nobody(
    broker: Broker, refusing: type[Refusing]
) -> None:
    config = configuration(broker.endpoint, plugins=["refusing"])
    refusing.decides = Disconnect("fail")
    with capture_logs() as logs:
        async with serving(config) as gateway:
            async with connected(LOOPBACK, port_of(config)) as client:
                assert await client.is_closed()
            refusing.decides = None
            async with connected(LOOPBACK, port_of(config)) as client:
                assert await client.beat() == 0
            assert gateway.link_counters.failed_observers == 1
    assert [line["why"] for line in logs if line["event"] == "observer failed"] == ["Refusing.not_served failed"]
