"""Clients with TLS: their principals, and the limit of handshakes at a time."""

from __future__ import annotations

import re
import socket
import ssl
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from proxy.config import LimitOptions, ListenerOptions
from proxy.config.tls import ClusterTls
from proxy.core.addresses import LAST_NODE_ID
from proxy.core.tls import Tls
from proxy.core.topology import Endpoint
from proxy.net.complaints import Complaints
from proxy.net.listeners import Listener
from proxy.net.tasks import Tasks
from proxy.net.tls.clients import ClientTls, HandshakeError, Welcomed
from proxy.net.tls.contexts import for_brokers
from proxy.net.tls.handshake import shake_hands
from proxy.net.tls.sockets import TlsSocket
from proxy.telemetry.counters import NetworkCounters
from tests.certificates import Authority
from tests.proxy.net.tls.pairs import read_all

NAME = "kafka.example.com"


def welcoming(authority: Authority, clock: Callable[[], float] = time.time, **more: Any) -> ClientTls:
    certificate, key = authority.issue("server", NAME, f"*.{NAME}")
    tls = {"certificate": str(certificate), "key": str(key), **more}
    listener = ListenerOptions.model_validate({"cluster": "main", "bind": "h:1", "advertise": NAME, "tls": tls})
    assert listener.tls is not None
    clients = ClientTls("clients", listener, listener.tls, clock=clock)
    clients.brokers = {3}
    return clients


def trusting(authority: Authority, own: str | None) -> ssl.SSLContext:
    """A client's context."""
    pair = {"certificate": str(authority.folder / f"{own}.pem"), "key": str(authority.folder / f"{own}.key")}
    return for_brokers(ClusterTls.model_validate({"ca": str(authority.file), **(pair if own else {})}))


async def resume(clients: ClientTls, context: ssl.SSLContext, session: ssl.SSLSession | None) -> ssl.SSLSession:
    """Resume this session. Returns the one to resume next time."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        for each in (ours, theirs):
            each.setblocking(False)
        client = TlsSocket(theirs, context, NAME)
        if session is not None:
            client.tls.session = session
        async with trio.open_nursery() as nursery:
            nursery.start_soon(shake_hands, client, 5)
            try:
                welcomed: Welcomed | HandshakeError = await clients.welcome(ours, None, LimitOptions())
            except HandshakeError as error:
                welcomed = error
        if isinstance(welcomed, HandshakeError):
            raise welcomed
        welcomed.socket.send(b"x")  # and the ticket of TLS 1.3
        assert read_all(client) == b"x"
        assert welcomed.socket.tls.session_reused is (session is not None)
        assert client.tls.session is not None
        return client.tls.session


async def welcome(clients: ClientTls, authority: Authority, host: str = NAME, own: str | None = None) -> Welcomed:
    context = trusting(authority, own)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        for each in (ours, theirs):
            each.setblocking(False)

        async def knock() -> None:
            try:
                await shake_hands(TlsSocket(theirs, context, host), 5)
            except HandshakeError:
                theirs.close()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(knock)
            try:
                found: Welcomed | HandshakeError = await clients.welcome(ours, None, LimitOptions())
            except HandshakeError as error:
                found = error
                ours.close()
    if isinstance(found, HandshakeError):
        raise found
    return found


async def test_a_client_without_a_certificate_is_nobody(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    found = await welcome(welcoming(authority), authority)
    assert isinstance(found.facts, Tls)
    assert (found.principal, found.facts.subject, found.facts.server_name) == (None, None, NAME)


async def test_a_client_for_whom_no_rule_fits_is_refused(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    authority.issue("alice")
    clients = welcoming(authority, client_auth="required", ca=str(authority.file), principal_mapping="RULE:^CN=bob$/b/")
    with pytest.raises(HandshakeError, match='no rule of principal_mapping fits "CN=alice"'):
        await welcome(clients, authority, own="alice")


@pytest.mark.parametrize("rule", ["RULE:^CN=alice$//", "RULE:^CN=(.*)$/ $1/"])
async def test_a_client_who_would_be_nobody_is_refused(tmp_path: Path, rule: str) -> None:
    authority = Authority(tmp_path)
    authority.issue("alice")
    clients = welcoming(authority, client_auth="required", ca=str(authority.file), principal_mapping=rule)
    with pytest.raises(HandshakeError, match="whom its certificate is about cannot be told"):
        await welcome(clients, authority, own="alice")


@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
async def test_a_session_is_not_resumed_beyond_the_end_of_the_certificate(tmp_path: Path, version: str) -> None:
    authority, now = Authority(tmp_path), [time.time()]
    authority.issue("alice", days=(-1, 1))
    server = {"client_auth": "required", "ca": str(authority.file), "versions": (version,)}
    clients = welcoming(authority, clock=lambda: now[0], **server)
    context = trusting(authority, "alice")
    session = await resume(clients, context, None)
    session = await resume(clients, context, session)
    now[0] += 86_460
    with pytest.raises(HandshakeError, match="its certificate has expired since"):
        await resume(clients, context, session)
    now[0] -= 120
    await resume(clients, context, session)


async def test_the_name_says_which_broker(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    clients = welcoming(authority, hosts=f"b-{{id}}.{NAME}")
    assert (await welcome(clients, authority)).broker_id is None
    assert (await welcome(clients, authority, f"b-3.{NAME}")).broker_id == 3
    assert (await welcome(clients, authority, f"B-3.{NAME.upper()}")).broker_id == 3
    odd = (f"b-{number}.{NAME}" for number in ("4", "x", "03", "+3", "-3", "3-", "0x3", "3" * 20))
    for unknown in (*odd, f"b-3.{NAME}.", f"x.{NAME}"):
        with pytest.raises(HandshakeError, match=re.escape(f'asked for host "{unknown}"')):
            await welcome(clients, authority, unknown)


async def test_every_broker_that_clients_are_told_of_can_be_asked_for(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    pattern = f"b-{{id}}.{NAME}"
    clients, tasks = welcoming(authority, hosts=pattern), Tasks(NetworkCounters(), Complaints())
    listener = Listener("clients", Endpoint("h", 1), NAME, tasks, hosts=pattern)
    clients.brokers = range(2**40)
    for node_id in (0, 9, 10, 999_999_999, 1_000_000_000, LAST_NODE_ID):
        assert (await welcome(clients, authority, listener.advertise(node_id).host)).broker_id == node_id
    for beyond in (LAST_NODE_ID + 1, 9_999_999_999):
        with pytest.raises(HandshakeError, match=f"b-{beyond}"):
            await welcome(clients, authority, f"b-{beyond}.{NAME}")


async def test_one_handshake_too_many_is_refused_and_counts_no_more_once_it_is_over(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    clients, one = welcoming(authority), LimitOptions.model_validate({"handshakes": 1})
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with ours, theirs:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(clients.welcome, ours, None, one)
            await trio.testing.wait_all_tasks_blocked()
            with pytest.raises(HandshakeError, match=r"limits\.handshakes"):
                await clients.welcome(theirs, None, one)
            nursery.cancel_scope.cancel()
    assert (await welcome(clients, authority)).principal is None


@pytest.mark.parametrize(
    ("said", "why"), [(b"\0\0\0\x12\0\x12", "speaks Kafka without TLS"), (b"", "closed the connection")]
)
async def test_who_asks_for_no_name_because_it_speaks_no_tls_is_told_so(tmp_path: Path, said: bytes, why: str) -> None:
    clients = welcoming(Authority(tmp_path), hosts=f"b-{{id}}.{NAME}")
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with ours, theirs:
        theirs.sendall(said)
        theirs.shutdown(socket.SHUT_WR)
        with pytest.raises(HandshakeError, match=why):
            await clients.welcome(ours, None, LimitOptions())


async def test_who_asks_for_no_name_and_must_is_told_so(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    clients = welcoming(authority, hosts=f"b-{{id}}.{NAME}")
    with pytest.raises(HandshakeError, match=r"it asked for no host \(SNI\)"):
        await welcome(clients, authority, "127.0.0.1")  # for addresses there is no SNI
