"""Exchanges: requests and their responses in a link, without sockets, and the CPU time that they take."""

from __future__ import annotations

import time
from collections.abc import Sequence

from proxy.core.commands import Command, Wake
from proxy.core.filters import Filters
from proxy.core.link import Link
from proxy.core.plugin import Plugin
from proxy.testing import connection

Exchange = tuple[memoryview, memoryview]


def relayed(exchanges: Sequence[Exchange], *plugins: Plugin, principal: str | None = None) -> float:
    """Microseconds for a request and its response. `principal`: of the client; None: it did not authenticate."""
    link = Link(connection(), Filters(plugins))
    link.begin()
    if principal is not None:
        link.connection.principal, link.connection.mechanism = principal, "SCRAM-SHA-512"
    begun = time.thread_time()
    for asked, answered in exchanges:
        _go_on(link, link.receive_client(asked))
        _go_on(link, link.receive_broker(answered))
    return (time.thread_time() - begun) / len(exchanges) * 1e6


def _go_on(link: Link, commands: list[Command] | None) -> None:
    """Wake the link where it asked for that, as the worker does after a turn of its other connections."""
    for token in [command.token for command in commands or () if isinstance(command, Wake)]:
        link.wake(token)
