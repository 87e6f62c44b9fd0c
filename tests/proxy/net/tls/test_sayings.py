"""A broker that refuses the proxy's certificate says so: with TLS 1.3 only after the handshake, at the first read."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
import trio

from proxy.config.tls import ClusterTls, ListenerTls
from proxy.core.topology import Endpoint
from proxy.net.dial import UnreachableError, plain_socket
from proxy.net.discovery import discover
from proxy.net.tls.brokers import BrokerTls
from proxy.net.tls.contexts import for_clients
from proxy.net.tls.handshake import HandshakeError, shake_hands
from proxy.net.tls.sockets import TlsSocket
from tests.certificates import Authority
from tests.proxy.net.scripted import LOOPBACK


@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
@pytest.mark.parametrize(
    ("shown", "why"),
    [
        (None, "wants a certificate of ours"),
        ("foreign", "does not trust the authority of our certificate"),
        ("late", "takes our certificate for expired"),
    ],
)
async def test_a_broker_that_refuses_our_certificate_is_said_to_do_so(
    nursery: trio.Nursery, tmp_path: Path, version: str, shown: str | None, why: str
) -> None:
    authority = Authority(tmp_path)
    certificate, key = authority.issue("broker", LOOPBACK)
    wanted = {"certificate": str(certificate), "key": str(key), "client_auth": "required", "ca": str(authority.file)}
    server = for_clients(ListenerTls.model_validate(wanted), lambda name: True)
    own: dict[str, str] = {}
    if shown is not None:
        (tmp_path / "other").mkdir()
        issuer = Authority(tmp_path / "other", "foreign") if shown == "foreign" else authority
        certificate, key = issuer.issue("doorkeeper")
        own = {"certificate": str(certificate), "key": str(key)}
    tls = BrokerTls("main", ClusterTls.model_validate({"ca": str(authority.file), "versions": [version], **own}))
    if shown == "late":
        certificate, key = authority.issue("late", days=(-2, -1))
        tls.watched.value.load_cert_chain(certificate, key)  # it expired after it was read

    async def refuse(stream: trio.SocketStream) -> None:
        sealed = TlsSocket(plain_socket(stream), server)
        with suppress(HandshakeError):
            await shake_hands(sealed, 5)
        sealed.close()

    (listener,) = await trio.open_tcp_listeners(0, host=LOOPBACK)
    nursery.start_soon(trio.serve_listeners, refuse, [listener])
    with pytest.raises(UnreachableError, match=f"no TLS: it {why}"):
        await discover(Endpoint(*listener.socket.getsockname()[:2]), 5, tls=tls)
