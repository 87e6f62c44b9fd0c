"""A broker's address that leads back to the proxy is detected, and one connection does not cause many."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_address

import pytest
import trio
from structlog.testing import capture_logs

from proxy.config import Config
from proxy.core.topology import Endpoint
from proxy.net.gateway import Gateway
from proxy.net.loops import is_here
from proxy.protocol.api import SASL_AUTHENTICATE, SASL_HANDSHAKE
from proxy.protocol.header import request_frame
from proxy.protocol.messages.sasl_authenticate import SaslAuthenticateResponse
from proxy.protocol.messages.sasl_handshake import SaslHandshakeResponse
from proxy.protocol.schema import Response
from tests.proxy.net.canary import beside, serving_both
from tests.proxy.net.scripted import HEARTBEAT_REQUEST, LOOPBACK, PATIENCE, Broker, connected, port_of
from tests.real.ports import free_block

FEW = 60  # connections that one may become until the loop is noticed
LOOP = "a broker's address is a loop"


@pytest.fixture
async def canary(nursery: trio.Nursery) -> Broker:
    canary = Broker()
    await nursery.start(canary.serve)
    return canary


def own_address() -> str:
    """An address of this machine that is not loopback, where it has one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return LOOPBACK
        return str(probe.getsockname()[0])


def everywhere(config: Config) -> Config:
    """The same, listening on all addresses."""
    whole = config.model_dump(exclude_unset=True)
    whole["listeners"]["clients"] |= {"bind": f"0.0.0.0:{port_of(config)}", "advertise": LOOPBACK}
    return Config.model_validate(whole)


async def is_refused(port: int) -> bool:
    """A client that comes and asks is closed."""
    try:
        async with connected(LOOPBACK, port) as client:
            await client.send(request_frame(HEARTBEAT_REQUEST, 4, 1, None))
            return await client.is_closed()
    except (OSError, trio.BrokenResourceError):
        return True


ALIASES = [LOOPBACK, "localhost", "0.0.0.0", "::ffff:127.0.0.1", "127.0.0.2", own_address(), socket.gethostname()]


@pytest.mark.parametrize("host", ALIASES)
@pytest.mark.parametrize("leads_to", ["itself", "another", "the beginning", "another listener"])
async def test_a_broker_at_a_port_of_the_proxy_is_a_line_and_nobody_is_brought_there(
    broker: Broker, canary: Broker, host: str, leads_to: str
) -> None:
    config = everywhere(beside(broker.endpoint, canary))
    if leads_to == "another listener" and host not in ALIASES[:4]:
        pytest.skip("the canary's listener is on loopback alone")
    port = {
        "itself": port_of(config, 2),
        "another": port_of(config, 1),
        "the beginning": port_of(config),
        "another listener": config.listeners["canary"].bind.port,
    }[leads_to]
    broker.told = {1: broker.endpoint, 2: Endpoint(host, port)}
    with capture_logs() as logs:
        async with serving_both(config) as gateway:
            assert await is_refused(port_of(config, 2))
            assert gateway.counters.loops >= 1
            assert gateway.counters.accepted < 10
            async with connected(LOOPBACK, port_of(config, 1)) as client:
                assert await client.beat() == 0
            for _ in range(4):
                async with connected(LOOPBACK, port_of(config)) as client:
                    assert await client.beat() == 0
    line = next(line for line in logs if line["event"] == LOOP)
    assert line["at"] == str(Endpoint(host, port))
    assert "advertised.listeners" in line["way_out"]


async def test_a_broker_elsewhere_with_the_number_of_a_port_of_ours_is_no_loop(broker: Broker, canary: Broker) -> None:
    """Brokers on other machines use the same port numbers as our listeners."""
    config = beside(broker.endpoint, canary)  # listens on 127.0.0.1
    other = Broker(node_id=2)
    listeners = await trio.open_tcp_listeners(port_of(config), host="127.0.0.2")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, other._converse, listeners)
        broker.told = {1: broker.endpoint, 2: Endpoint("127.0.0.2", port_of(config))}
        async with serving_both(config) as gateway, connected(LOOPBACK, port_of(config, 2)) as client:
            assert await client.beat() == 0
            assert gateway.counters.loops == 0
        nursery.cancel_scope.cancel()


def by_way_of(config: Config, via: dict[Endpoint, Endpoint]) -> Config:
    """The same, with brokers that are dialled elsewhere."""
    whole = config.model_dump(exclude_unset=True)
    whole["clusters"]["main"]["via"] = {str(broker): str(place) for broker, place in via.items()}
    return Config.model_validate(whole)


async def test_a_proxy_may_have_the_address_of_a_broker_that_is_dialled_elsewhere(
    broker: Broker, canary: Broker, nursery: trio.Nursery
) -> None:
    other = Broker(node_id=2)
    await nursery.start(other.serve)
    config = beside(broker.endpoint, canary)
    advertised = Endpoint(LOOPBACK, port_of(config))
    broker.told = {1: broker.endpoint, 2: advertised}
    config = by_way_of(config, {advertised: other.endpoint})
    async with serving_both(config) as gateway, connected(LOOPBACK, port_of(config, 2)) as client:
        assert await client.beat() == 0
        assert gateway.counters.loops == 0


async def test_a_broker_that_is_dialled_at_a_port_of_ours_is_a_loop(broker: Broker, canary: Broker) -> None:
    config = beside(broker.endpoint, canary)
    elsewhere = Endpoint("192.0.2.1", 9092)
    broker.told = {1: broker.endpoint, 2: elsewhere}
    config = by_way_of(config, {elsewhere: Endpoint(LOOPBACK, port_of(config, 2))})
    with capture_logs() as logs:
        async with serving_both(config) as gateway:
            assert await is_refused(port_of(config, 2))
            assert gateway.counters.accepted < 10
    line = next(line for line in logs if line["event"] == LOOP)
    assert line["at"] == str(elsewhere)
    assert "via" in line["way_out"]


async def test_a_bootstrap_address_that_is_the_proxy_itself_is_said(nursery: trio.Nursery, canary: Broker) -> None:
    port = free_block(8, LOOPBACK)
    config = beside(Endpoint("localhost", port), canary, port=port)
    gateway = Gateway(config)
    with capture_logs() as logs:
        nursery.start_soon(gateway.run, lambda report: None)
        with trio.fail_after(PATIENCE):
            while not any(line["event"] == LOOP for line in logs):
                await trio.lowlevel.checkpoint()
    line = next(line for line in logs if line["event"] == LOOP)
    assert (line["cluster"], line["at"]) == ("main", f"localhost:{port}")
    assert "bootstrap" in line["way_out"]
    gateway.stop()


@asynccontextmanager
async def relaying(port: int) -> AsyncIterator[Endpoint]:
    """A forwarded port: whatever comes goes to a port of this machine. Counts nothing, reads nothing."""

    async def relay(stream: trio.SocketStream) -> None:
        async def move(source: trio.SocketStream, sink: trio.SocketStream) -> None:
            try:
                async for chunk in source:
                    await sink.send_all(chunk)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                pass
            both.cancel()

        try:
            there = await trio.open_tcp_stream(LOOPBACK, port)
        except OSError:
            return
        async with there, stream, trio.open_nursery() as nursery:
            both = nursery.cancel_scope
            nursery.start_soon(move, stream, there)
            nursery.start_soon(move, there, stream)

    listeners = await trio.open_tcp_listeners(0, host=LOOPBACK)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, relay, listeners)
        yield Endpoint(*listeners[0].socket.getsockname()[:2])
        nursery.cancel_scope.cancel()


class Knowing(Broker):
    """Takes anybody who authenticates."""

    def _answer(self, key: int, frame: bytes) -> Response:
        if key == SASL_HANDSHAKE.key:
            return SaslHandshakeResponse(error_code=0, mechanisms=["PLAIN"])
        if key == SASL_AUTHENTICATE.key:
            return SaslAuthenticateResponse(error_code=0, error_message=None, auth_bytes=b"")
        return super()._answer(key, frame)


def authenticating(config: Config) -> Config:
    """The same, where the proxy authenticates to the brokers of the cluster."""
    whole = config.model_dump(exclude_unset=True)
    whole["clusters"]["main"]["sasl"] = {"mechanism": "PLAIN", "username": "doorkeeper", "password": "dk-secret"}
    return Config.model_validate(whole)


@pytest.mark.parametrize("authenticates", [False, True], ids=["", "that authenticates"])
async def test_a_forwarded_port_that_leads_back_is_noticed_by_the_mark(
    nursery: trio.Nursery, canary: Broker, authenticates: bool
) -> None:
    broker = Knowing()
    await nursery.start(broker.serve)
    config = beside(broker.endpoint, canary)
    if authenticates:
        config = authenticating(config)
    with capture_logs() as logs:
        async with relaying(port_of(config, 2)) as forwarded:
            broker.told = {1: broker.endpoint, 2: forwarded}
            async with serving_both(config) as gateway:
                for _ in range(3):
                    assert await is_refused(port_of(config, 2))
                assert gateway.counters.loops >= 1
                assert gateway.counters.accepted < FEW
                await settled(gateway)
    assert any(line["event"] == LOOP and line["at"] == str(forwarded) for line in logs)


async def settled(*gateways: Gateway, clients: int = 1) -> None:
    """Nothing is open any more but the canaries' clients."""
    with trio.fail_after(PATIENCE):
        while any(gateway.counters.open > clients for gateway in gateways):
            await trio.lowlevel.checkpoint()


@pytest.mark.parametrize("late", [False, True], ids=["from the start", "later"])
@pytest.mark.parametrize("authenticate", [0, 1, 2], ids=["", "one authenticates", "both authenticate"])
async def test_two_proxies_in_a_ring_notice_it(
    nursery: trio.Nursery, canary: Broker, late: bool, authenticate: int
) -> None:
    ones, others, behind = Knowing(), Knowing(), Knowing(node_id=2)
    for each in (ones, others, behind):
        await nursery.start(each.serve)
    one, other = beside(ones.endpoint, canary), beside(others.endpoint, canary)
    if authenticate:
        one = authenticating(one)
    if authenticate == 2:
        other = authenticating(other)
    ones.told = {1: ones.endpoint, 2: Endpoint(LOOPBACK, port_of(other, 2))}
    others.told = {1: others.endpoint, 2: behind.endpoint if late else Endpoint(LOOPBACK, port_of(one, 2))}
    with capture_logs() as logs:
        async with serving_both(one) as first, serving_both(other) as second:
            if late:  # it was none for a while, and clients were brought there
                for _ in range(10):
                    if authenticate == 2:  # a listener without SASL takes no token of the other proxy
                        assert await is_refused(port_of(one, 2))
                        continue
                    async with connected(LOOPBACK, port_of(one, 2)) as client:
                        assert await client.beat() == 0
                others.told[2] = Endpoint(LOOPBACK, port_of(one, 2))
                for served in second._clusters:
                    served.upstream.ask_again()
                with trio.fail_after(PATIENCE):
                    while second.report().clusters["main"]["2"] != str(others.told[2]):
                        await trio.sleep(0.01)
            before = first.counters.accepted + second.counters.accepted
            for _ in range(5):
                assert await is_refused(port_of(one, 2))
                assert await is_refused(port_of(other, 2))
            assert first.counters.accepted + second.counters.accepted - before < 4 * FEW
            assert first.counters.loops + second.counters.loops >= 1
            await settled(first, second)
            for config in (one, other):
                async with connected(LOOPBACK, port_of(config, 1)) as client:
                    assert await client.beat() == 0
    assert any(line["event"] == LOOP for line in logs)


def test_the_addresses_of_this_machine_are_known() -> None:
    for address in ("127.0.0.1", "127.8.9.10", "::1", own_address()):
        assert is_here(ip_address(address)), address
    assert not is_here(ip_address("192.0.2.1"))
