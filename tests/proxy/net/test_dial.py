from __future__ import annotations

import gc
import socket
from contextlib import ExitStack
from typing import Any

import pytest
import trio

from proxy.core.topology import Endpoint
from proxy.net.bind import BindError, listen
from proxy.net.dial import UnreachableError, connect, dial
from tests.proxy.net.scripted import LOOPBACK, Broker
from tests.real.ports import free_port

NOBODY = "127.0.0.2"  # an address of this machine on which no broker listens


@pytest.mark.parametrize("host", [LOOPBACK, "localhost"])
async def test_a_socket_for_the_reactor_is_plain_and_without_trios_settings(broker: Broker, host: str) -> None:
    plain = await connect(Endpoint(host, broker.endpoint.port), 5)
    assert type(plain) is socket.socket
    with plain:
        assert not plain.getblocking()
        assert plain.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert plain.getsockopt(socket.IPPROTO_TCP, 25) == 0  # TCP_NOTSENT_LOWAT


async def test_a_closed_port_is_said_with_its_address() -> None:
    port = free_port(LOOPBACK)
    with pytest.raises(UnreachableError) as raised:
        await dial(Endpoint(LOOPBACK, port), 5)
    assert str(raised.value) == f"{LOOPBACK}:{port}: connection refused"
    assert not raised.value.stalled


@pytest.mark.parametrize("host", [LOOPBACK, "localhost"])
@pytest.mark.parametrize("port", [-1, 0, 65_536, 70_000, 2**31 - 1])
async def test_what_is_no_port_is_not_dialled(host: str, port: int) -> None:
    with pytest.raises(UnreachableError, match=rf"a port is 1 to 65535, and this one {port}$"):
        await dial(Endpoint(host, port), 5)


class Names(trio.abc.HostnameResolver):
    """Every name has these addresses of this machine; `asked` is how often somebody wanted to know."""

    def __init__(self, *addresses: str) -> None:
        self.asked = 0
        self._addresses = addresses

    async def getaddrinfo(self, host: Any, port: Any, *how: int) -> list[Any]:
        self.asked += 1
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in self._addresses]

    async def getnameinfo(self, sockaddr: Any, flags: int) -> tuple[str, str]:
        raise NotImplementedError


@pytest.mark.parametrize(("addresses", "asked"), [((LOOPBACK,), 1), ((LOOPBACK, NOBODY), 1), ((NOBODY, LOOPBACK), 2)])
async def test_a_name_is_dialled_wherever_it_answers(broker: Broker, addresses: tuple[str, ...], asked: int) -> None:
    names = Names(*addresses)
    trio.socket.set_custom_hostname_resolver(names)
    connected = await connect(Endpoint("kafka.example.com", broker.endpoint.port), 5)
    assert isinstance(connected, socket.socket)
    with connected:
        assert connected.getpeername() == broker.endpoint
    assert names.asked == asked


@pytest.mark.parametrize("addresses", [(NOBODY,), (NOBODY, "127.0.0.3")])
async def test_a_name_that_answers_nowhere_is_said_in_the_usual_words(
    broker: Broker, addresses: tuple[str, ...]
) -> None:
    trio.socket.set_custom_hostname_resolver(Names(*addresses))
    port = broker.endpoint.port
    with pytest.raises(UnreachableError, match=rf"^kafka\.example\.com:{port}: connection refused$"):
        await dial(Endpoint("kafka.example.com", port), 5)


async def test_a_first_address_that_stalls_is_waited_for_as_long_as_trio_would(broker: Broker) -> None:
    trio.socket.set_custom_hostname_resolver(Names(NOBODY, LOOPBACK))
    with socket.socket() as full:
        full.bind((NOBODY, broker.endpoint.port))
        full.listen(0)
        with ExitStack() as stack:
            for _ in range(2):  # these fill its queue: what comes now gets no answer
                waiting = stack.enter_context(socket.socket())
                waiting.setblocking(False)
                waiting.connect_ex(full.getsockname())
            connected = await connect(Endpoint("kafka.example.com", broker.endpoint.port), 5)
    assert isinstance(connected, socket.socket)
    with connected:
        assert connected.getpeername() == broker.endpoint


async def test_a_broker_is_dialled_where_via_says(broker: Broker) -> None:
    elsewhere = Endpoint("kafka-1.invalid", 9092)
    async with await dial(elsewhere, 5, via={elsewhere: broker.endpoint}):
        pass


async def test_what_is_said_of_it_has_both_addresses() -> None:
    broker, place = Endpoint("kafka-1", 9092), Endpoint(LOOPBACK, free_port(LOOPBACK))
    with pytest.raises(UnreachableError) as raised:
        await dial(broker, 5, via={broker: place})
    assert str(raised.value) == f"kafka-1:9092: connection refused (dialled at {place})"
    assert raised.value.endpoint == broker


async def test_a_host_without_address_is_said_in_words() -> None:
    with pytest.raises(UnreachableError, match=r"^nowhere\.invalid:9092: no such host$"):
        await dial(Endpoint("nowhere.invalid", 9092), 5)


async def test_a_name_server_that_does_not_answer_is_no_fault_of_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def unanswered(*asked: object, **how: object) -> Any:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", unanswered)
    with pytest.raises(UnreachableError, match=r"^kafka-1:9092: temporary failure in name resolution$"):
        await dial(Endpoint("kafka-1", 9092), 5)
    with pytest.raises(BindError, match=r"^kafka-1:9092: temporary failure in name resolution; change admin\.bind$"):
        listen(Endpoint("kafka-1", 9092), "admin.bind")


async def test_a_broker_that_does_not_accept_is_left_after_the_time_limit() -> None:
    # A listening socket whose queue is full drops what comes: nobody answers.
    with socket.create_server((LOOPBACK, 0), backlog=0) as full:
        endpoint = Endpoint(*full.getsockname())
        async with trio.open_nursery() as nursery:
            for _ in range(4):  # they wait in the queue, or for it
                nursery.start_soon(_connect, endpoint)
            with pytest.raises(UnreachableError) as raised:
                await dial_until_full(endpoint)
            nursery.cancel_scope.cancel()
    assert raised.value.stalled
    assert "no answer within 0.05 s" in str(raised.value)


async def _connect(endpoint: Endpoint) -> None:
    async with await trio.open_tcp_stream(*endpoint):
        await trio.sleep_forever()


async def dial_until_full(endpoint: Endpoint) -> None:
    while True:
        await trio.sleep(0)
        stream = await dial(endpoint, 0.05)
        await stream.aclose()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_a_cancelled_dial_leaves_no_socket(host: str, recwarn: pytest.WarningsRecorder) -> None:
    with socket.create_server((LOOPBACK, 0), backlog=0) as full:
        endpoint = Endpoint(host, full.getsockname()[1])
        with trio.move_on_after(0.05):
            await dial_until_full(endpoint)
    gc.collect()
    assert not [each for each in recwarn if each.category is ResourceWarning]
