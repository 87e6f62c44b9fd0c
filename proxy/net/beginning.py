"""Beginning: hands a client and its broker, both connected, to the reactor as a link."""

from __future__ import annotations

from functools import partial

import trio

from proxy.auth.identity import keep_up
from proxy.core.context import Connection
from proxy.core.link import Link
from proxy.core.plugin import Plugin
from proxy.net.logins import LoggedIn
from proxy.net.newcomer import Newcomer
from proxy.net.tls.sockets import TlsSocket
from proxy.net.worker_parts import WorkerParts

FAILED = "the proxy failed; its log says where"


def serve(
    worker: WorkerParts,
    connection: Connection,
    authentication: Plugin,
    newcomer: Newcomer,
    logged_in: LoggedIn | None,
) -> None:
    """Serve this client, whose broker is connected. Bytes that came ahead with the TLS handshake are read too."""
    client, broker = newcomer.client, newcomer.broker
    assert broker is not None
    snapshot, reactor = worker.snapshot, worker.reactor
    link: Link | None = None
    try:
        filters = snapshot.filters(connection.listener, authentication)
        reactor.clock.now = began = trio.current_time()
        link = Link(connection, filters, snapshot.limits, worker.link_counters, reactor.clock, reactor.allowance)
        beginning = link.begin()
        if logged_in is not None and logged_in.lifetime is not None:
            present = partial(worker.host.identities, connection.cluster)
            link.run(keep_up(connection, logged_in.identity, logged_in.versions, logged_in.lifetime, present))
        conversation = reactor.adopt(client, broker, link)
    except BaseException:
        if link is not None:
            link.release(FAILED)
        raise
    newcomer.is_served = True
    try:
        conversation.carry_out(beginning)
        if isinstance(client, TlsSocket) and client.ahead and not conversation.closing:
            reactor.look(conversation.client)
    except BaseException:
        conversation.abort(FAILED)
        raise
    reactor.slow_turns.took(trio.current_time() - began)
