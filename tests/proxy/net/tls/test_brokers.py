"""Brokers with TLS: a stream for the proxy's own requests."""

from __future__ import annotations

import socket
from pathlib import Path

import trio

from proxy.config.tls import ClusterTls, ListenerTls
from proxy.net.broker_stream import BrokerStream
from proxy.net.tls.brokers import BrokerTls
from proxy.net.tls.contexts import for_clients
from proxy.net.tls.handshake import shake_hands
from proxy.net.tls.sockets import TlsSocket
from tests.certificates import Authority


async def test_a_sealed_stream_sends_and_receives_and_ends(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    certificate, key = authority.issue("broker", "kafka-1")
    server = for_clients(ListenerTls(certificate=str(certificate), key=str(key)), lambda name: name == "kafka-1")
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.setblocking(False)
    sealed, much = TlsSocket(theirs, server), bytes(4 << 20)
    at_broker = BrokerStream(sealed)

    async def broker() -> None:
        await shake_hands(sealed, 5)
        left = len(much)
        while left:
            left -= len(await at_broker.receive_some())
        await at_broker.send_all(b"all")
        await at_broker.aclose()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(broker)
        stream = BrokerStream(await BrokerTls("main", ClusterTls(ca=str(authority.file))).seal(ours, "kafka-1.", 5))
        await stream.send_all(much)
        assert await stream.receive_some() == b"all"
        assert await stream.receive_some() == b""
        await stream.aclose()
