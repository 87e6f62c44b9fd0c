"""TLS through the gateway: to clients, to brokers, by host names, and while certificates change."""

from __future__ import annotations

import socket
import ssl
import struct
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import trio
from structlog.testing import capture_logs

from proxy.config import Config
from proxy.core.topology import Endpoint
from proxy.net import reaching
from proxy.net.broker_stream import BrokerStream
from proxy.net.channel import Learned
from proxy.net.dial import plain_socket
from proxy.net.tls.handshake import shake_hands
from proxy.net.tls.sockets import TlsSocket
from proxy.protocol.header import request_frame
from proxy.protocol.messages.heartbeat import HeartbeatResponse
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from tests.certificates import Authority
from tests.proxy.net.scripted import (
    HEARTBEAT_REQUEST,
    LOOPBACK,
    PATIENCE,
    Broker,
    Client,
    configuration,
    port_of,
    serving,
)
from tests.real.ports import free_block
from tests.sealing import Sealer13

NAME = "kafka.example.com"


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    authority = Authority(tmp_path)
    authority.issue("server", LOOPBACK, NAME, f"*.{NAME}")
    authority.issue("alice", organization="Example")
    return authority


def secured(authority: Authority, broker: Endpoint, limits: dict[str, str] | None = None, **more: Any) -> Config:
    folder = authority.folder
    tls = {"certificate": str(folder / "server.pem"), "key": str(folder / "server.key"), **more.pop("tls", {})}
    config = configuration(broker, **more.pop("whole", {})).model_dump(exclude_unset=True)
    (listener,) = config["listeners"].values()
    listener["tls"] = tls
    listener |= more
    return Config.model_validate({**config, "limits": limits or {}})


def trusting(authority: Authority, own: str | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(authority.file))
    if own is not None:
        context.load_cert_chain(authority.folder / f"{own}.pem", authority.folder / f"{own}.key")
    return context


@asynccontextmanager
async def client_of(port: int, context: ssl.SSLContext, host: str = LOOPBACK) -> AsyncIterator[Client]:
    stream = await trio.open_tcp_stream(LOOPBACK, port)
    sealed = trio.SSLStream(stream, context, server_hostname=host, https_compatible=True)
    async with sealed:
        await sealed.do_handshake()
        yield Client(sealed)  # type: ignore[arg-type]


async def test_a_client_with_tls_reaches_its_broker(broker: Broker, authority: Authority) -> None:
    config = secured(authority, broker.endpoint)
    async with serving(config):
        for port in (port_of(config), port_of(config, 1)):
            async with client_of(port, trusting(authority)) as client:
                assert [await client.beat(number) for number in range(3)] == [0, 0, 0]


async def test_a_client_certificate_gives_a_principal(broker: Broker, authority: Authority) -> None:
    mutual = {"client_auth": "required", "ca": str(authority.file), "principal_mapping": "RULE:^CN=([^,]+),.*$/$1/U"}
    config = secured(authority, broker.endpoint, tls=mutual)
    async with serving(config) as gateway, client_of(port_of(config), trusting(authority, "alice")) as client:
        assert await client.beat() == 0
        (conversation,) = gateway._reactor.conversations
        facts = conversation.link.connection.facts()
        assert facts["principal"] == "User:ALICE"
        assert facts["subject"] == "CN=alice,O=Example"
        assert str(facts["tls"]).startswith("TLSv1.3 ")


@pytest.mark.parametrize(
    ("said", "why"),
    [(b"\0\0\0\x12\0\x12\0\3\0\0\0\1\0\0", "speaks Kafka without TLS"), (b"GET / HTTP/1.1\r\n\r\n", "HTTP")],
)
async def test_a_client_without_tls_is_one_line_in_the_log(
    broker: Broker, authority: Authority, said: bytes, why: str
) -> None:
    config = secured(authority, broker.endpoint)
    with capture_logs() as logs:
        async with serving(config):
            plain = await trio.open_tcp_stream(LOOPBACK, port_of(config))
            await plain.send_all(said)
            with trio.fail_after(PATIENCE):
                while await plain.receive_some():
                    pass
            await plain.aclose()
    (line,) = [line for line in logs if line["event"] == "no TLS"]
    assert why in line["why"]


@pytest.mark.parametrize("lingering", [None, 0])
async def test_a_probe_that_leaves_without_a_byte_is_no_fault(
    broker: Broker, authority: Authority, lingering: int | None
) -> None:
    """Load balancers look every few seconds whether a port is open, and growing faults are an alert."""
    config = secured(authority, broker.endpoint)
    async with serving(config) as gateway:
        with capture_logs() as logs, trio.fail_after(PATIENCE):
            for number, said in enumerate((b"", b"\0\0\0\x12"), 1):  # the second client is no probe
                client = await trio.open_tcp_stream(LOOPBACK, port_of(config))
                await client.send_all(said)
                if lingering is not None and not said:  # it resets the connection
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, lingering))
                while gateway.counters.accepted < number:
                    await trio.lowlevel.checkpoint()
                await client.aclose()
                while gateway.counters.open:
                    await trio.lowlevel.checkpoint()
        assert [line["event"] for line in logs] == ["no TLS"]
        assert gateway.counters.failed_handshakes == 1


async def test_a_client_with_tls_on_a_plain_port_is_one_line_in_the_log(broker: Broker, authority: Authority) -> None:
    config = configuration(broker.endpoint)
    with capture_logs() as logs:
        async with serving(config):
            with pytest.raises((trio.BrokenResourceError, ssl.SSLError)):
                async with client_of(port_of(config), trusting(authority)):
                    pass
    (line,) = [line for line in logs if line["event"] == "connection ended"]
    assert "TLS" in line["why"]


async def test_requests_in_records_of_one_byte_are_all_answered(
    broker: Broker, authority: Authority, tmp_path: Path
) -> None:
    """They are opened in several turns, without further events."""
    config, context, times = secured(authority, broker.endpoint), trusting(authority), 50
    context.keylog_filename = str(tmp_path / "secrets")
    async with serving(config), client_of(port_of(config), context) as client:
        sealer, request = Sealer13(tmp_path / "secrets"), request_frame(HEARTBEAT_REQUEST, 4, 1, "test")
        records = [sealer.record(bytes([byte])) for byte in request * times]
        await client.stream.transport_stream.send_all(b"".join(records))  # type: ignore[attr-defined]
        for _ in range(times):
            assert (await client.answer(HeartbeatResponse)).error_code == 0


async def test_a_client_that_only_changes_its_keys_is_ended_and_the_log_says_why(
    broker: Broker, authority: Authority, tmp_path: Path
) -> None:
    config, context = secured(authority, broker.endpoint), trusting(authority)
    context.keylog_filename = str(tmp_path / "secrets")
    with capture_logs() as logs:
        async with serving(config), client_of(port_of(config), context) as client:
            sealer = Sealer13(tmp_path / "secrets")
            updates = b"".join(sealer.key_update() for _ in range(1_000))
            await client.stream.transport_stream.send_all(updates)  # type: ignore[attr-defined]
            assert await client.is_closed()
    (line,) = [line for line in logs if line["event"] == "connection ended"]
    assert line["why"] == "more than 32 TLS records in a row without data"


async def test_all_brokers_answer_on_one_port_by_their_host_names(broker: Broker, authority: Authority) -> None:
    config = secured(authority, broker.endpoint, advertise=NAME, tls={"hosts": f"broker-{{id}}.{NAME}"})
    async with serving(config) as gateway:
        async with client_of(port_of(config), trusting(authority), NAME) as client:
            answer = await client.ask(MetadataRequest(topics=[]), MetadataResponse)
            assert [(it.host, it.port) for it in answer.brokers] == [(f"broker-1.{NAME}", port_of(config))]
        async with client_of(port_of(config), trusting(authority), f"broker-1.{NAME}") as client:
            assert await client.beat() == 0
            assert [each.link.connection.broker_id for each in gateway._reactor.conversations] == [1]
        with pytest.raises(trio.BrokenResourceError) as refused:
            async with client_of(port_of(config), trusting(authority), f"broker-7.{NAME}"):
                pass
        assert "UNRECOGNIZED_NAME" in str(refused.value.__cause__).upper()


async def test_brokers_are_told_by_their_names_while_another_listener_comes_with_new_options(
    broker: Broker, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = secured(authority, broker.endpoint, advertise=NAME, tls={"hosts": f"broker-{{id}}.{NAME}"})
    options = config.model_dump(exclude_unset=True)
    options["listeners"]["clients"]["tls"]["versions"] = ["TLSv1.3"]
    coming = {"cluster": "main", "bind": f"slow.example:{free_block(8, LOOPBACK)}", "advertise": LOOPBACK}
    after = Config.model_validate(options | {"listeners": {"second": coming, **options["listeners"]}})
    asked, may_answer, system = threading.Event(), threading.Event(), socket.getaddrinfo

    def slow(host: Any, *rest: Any, **named: Any) -> Any:
        if host == "slow.example":
            asked.set()
            assert may_answer.wait(PATIENCE)
            host = LOOPBACK
        return system(host, *rest, **named)

    async with serving(config) as gateway, trio.open_nursery() as nursery:
        monkeypatch.setattr(socket, "getaddrinfo", slow)
        nursery.start_soon(gateway.apply, after)
        try:
            assert await trio.to_thread.run_sync(asked.wait, PATIENCE)
            async with client_of(port_of(config), trusting(authority), f"broker-1.{NAME}") as client:
                assert await client.beat() == 0
        finally:
            may_answer.set()


async def test_a_name_that_another_worker_told_of_is_waited_for(
    broker: Broker, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = secured(authority, broker.endpoint, advertise=NAME, tls={"hosts": f"broker-{{id}}.{NAME}"})
    async with serving(config, lambda learned: None) as gateway:
        async with client_of(port_of(config), trusting(authority), f"broker-7.{NAME}") as client:
            gateway.learn(Learned("main", 7, *broker.endpoint))
            assert await client.beat() == 0
        monkeypatch.setattr(reaching, "HEARSAY", 0.05)
        with capture_logs() as logs:
            async with client_of(port_of(config), trusting(authority), f"broker-8.{NAME}") as client:
                assert await client.is_closed()
    (line,) = [line for line in logs if line["event"] == "broker unreachable"]
    assert "no such broker was ever seen" in line["why"]


@pytest.mark.parametrize("last_words", [b"", request_frame(HEARTBEAT_REQUEST, 4, 1, "test")], ids=["none", "some"])
async def test_a_client_that_says_goodbye_and_waits_for_ours_gets_it(
    broker: Broker, authority: Authority, last_words: bytes
) -> None:
    config = secured(authority, broker.endpoint)
    async with serving(config):
        stream = await trio.open_tcp_stream(LOOPBACK, port_of(config))
        sealed = TlsSocket(plain_socket(stream), trusting(authority), LOOPBACK)
        await shake_hands(sealed, PATIENCE)
        sealed.tls.write(last_words)
        with suppress(ssl.SSLWantReadError):
            sealed.tls.unwrap()
        sealed.outgoing.push()  # all of it at once, and no end of the connection itself
        answered = b""
        with trio.fail_after(PATIENCE):
            while arrived := await BrokerStream(sealed).receive_some():
                answered += arrived
        assert bool(answered) == bool(last_words)
        sealed.close()


async def test_a_record_of_tls_that_does_not_come_to_its_end_is_nothing(broker: Broker, authority: Authority) -> None:
    config = secured(authority, broker.endpoint, limits={"idle": "300ms"})
    async with serving(config) as gateway, client_of(port_of(config, 1), trusting(authority)) as client:
        assert await client.beat() == 0
        with trio.fail_after(PATIENCE), suppress(trio.BrokenResourceError):
            await client.stream.transport_stream.send_all(b"\x17\x03\x03\x40\x00")
            while gateway.counters.open:
                await client.stream.transport_stream.send_all(b"x")
                await trio.sleep(0.02)
        assert gateway.counters.idle == 1


async def test_large_frames_pass_both_ways_sealed(broker: Broker, authority: Authority) -> None:
    config = secured(authority, broker.endpoint)
    broker.told = {number: Endpoint(f"host-{number}", 9092) for number in range(1, 3)}
    many = MetadataRequest(topics=[MetadataRequest.Topic(name="x" * 200) for _ in range(20_000)])
    async with serving(config), client_of(port_of(config), trusting(authority)) as client:
        for _ in range(3):
            await client.ask(many, MetadataResponse)


async def test_certificates_are_replaced_under_load_and_no_connection_is_lost(
    broker: Broker, authority: Authority
) -> None:
    await rotate(broker, authority, 5)


@pytest.mark.long
async def test_certificates_are_replaced_often_under_load(broker: Broker, authority: Authority) -> None:
    await rotate(broker, authority, 100)


async def rotate(broker: Broker, authority: Authority, times: int) -> None:
    config = secured(authority, broker.endpoint)
    done, beats = False, 0

    async def load() -> None:
        nonlocal beats
        async with client_of(port_of(config), trusting(authority)) as client:
            while not done:
                assert await client.beat() == 0
                beats += 1

    async with serving(config) as gateway:
        async with trio.open_nursery() as nursery:
            for _ in range(4):
                nursery.start_soon(load)
            for _ in range(times):
                certificate, _ = authority.issue("server", LOOPBACK)
                expected = ssl.PEM_cert_to_DER_cert(certificate.read_text())
                with trio.fail_after(60):
                    while await shown(config, authority) != expected:
                        await trio.lowlevel.checkpoint()
            done = True
        assert beats > times
        assert gateway.counters.ended_by_fault == 0


async def shown(config: Config, authority: Authority) -> bytes | None:
    stream = await trio.open_tcp_stream(LOOPBACK, port_of(config))
    async with trio.SSLStream(stream, trusting(authority), server_hostname=LOOPBACK, https_compatible=True) as sealed:
        await sealed.do_handshake()
        der: bytes | None = sealed.getpeercert(True)
        return der


class SealedBroker(Broker):
    """A broker behind TLS."""

    def __init__(self, context: ssl.SSLContext) -> None:
        super().__init__()
        self.context = context

    async def _converse(self, stream: trio.SocketStream) -> None:
        sealed = trio.SSLStream(stream, self.context, server_side=True, https_compatible=True)
        with suppress(trio.BrokenResourceError):
            await super()._converse(sealed)  # type: ignore[arg-type]


@pytest.mark.parametrize(("trusted", "reachable"), [(True, True), (False, False)])
async def test_brokers_are_spoken_to_with_tls_and_must_be_whom_we_trust(
    nursery: trio.Nursery, authority: Authority, tmp_path: Path, trusted: bool, reachable: bool
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server.pem", tmp_path / "server.key")
    broker = SealedBroker(context)
    await nursery.start(broker.serve)
    (tmp_path / "other").mkdir()
    ca = authority.file if trusted else Authority(tmp_path / "other", "foreign").file
    config = secured(authority, broker.endpoint).model_dump(exclude_unset=True)
    config["clusters"]["main"]["tls"] = {"ca": str(ca)}
    sealed = Config.model_validate(config)
    if reachable:
        async with serving(sealed), client_of(port_of(sealed, 1), trusting(authority)) as client:
            assert await client.beat() == 0
        return

    async def serve() -> None:
        async with serving(sealed):
            pass

    with capture_logs() as logs, trio.fail_after(60):
        nursery.start_soon(serve)  # which never serves
        while not any("its certificate is not accepted" in line.get("tried", "") for line in logs):
            await trio.sleep(0.01)
