"""Binding: a listening socket, or one line that says who has the port and what to change.

Rules:
* Nothing here waits: a port is open when `listen` returns. Only a host name may take long. It is looked up before, in
  a thread (`look_up`), and not again for each port.
* Several workers share their ports (SO_REUSEPORT). A second proxy could then share them too, unnoticed. So the process
  that starts the workers first claims each port without sharing (`claim`).
* `::` listens for IPv4 too, as Java does; any other address for its own family.
* The kernel asks clients that send nothing whether they are still there, as brokers have it do. While a request waits,
  a client that closed only its sending side looks like one that is gone: only the kernel of that one says no.
"""

import errno
import os
import socket
from contextlib import ExitStack
from functools import cache
from typing import Any

from proxy.core.topology import Endpoint
from proxy.net.port_owners import owners
from proxy.net.resolving import why_unresolved
from proxy.text.scarce import SCARCE, way_out

TCP_USER_TIMEOUT = getattr(socket, "TCP_USER_TIMEOUT", None)  # only on Linux
# Options that say when a client is asked for the first time, and how often from then on.
ASKING = [getattr(socket, name) for name in ("TCP_KEEPIDLE", "TCP_KEEPINTVL") if hasattr(socket, name)]
QUIET = 60  # seconds without a byte; for so long Linux remembers that a client closed, and says that it is there
BACKLOG = 1024  # after a broker died, its clients reconnect all at once

_looked_up: dict[str, list[Any] | OSError] = {}  # the addresses of host names, without ports


class BindError(Exception):
    """A port that cannot be opened: which one, why, and what to do about it."""


class PortTakenError(BindError):
    """Another process has the port. Its text names this process; to find it takes a while (`port_owners.py`)."""

    def __init__(self, endpoint: Endpoint, option: str) -> None:
        super().__init__(endpoint, option)
        self.port = endpoint.port

    def by(self, owner: str) -> str:
        """The text, if this process has the port."""
        endpoint, option = self.args
        return f"{endpoint}: {owner} has the port; stop it, or change {option}"

    def __str__(self) -> str:
        return self.by(owners({self.port})[self.port])


def listen(
    endpoint: Endpoint, option: str, *, shared: bool = False, untaken: float | None = None
) -> list[socket.socket]:
    """Listen on every address of `endpoint`. `option`: the option to change on an error. Raises BindError.

    `untaken`: seconds after which the kernel ends a connection whose client takes nothing of what is sent to it.
    """
    with ExitStack() as undo:
        sockets = []
        for family, address in _addresses(endpoint, option):
            try:
                listening = undo.enter_context(socket.socket(family, socket.SOCK_STREAM))
                listening.setblocking(False)
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # what it accepts has all this too
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                for when in ASKING:
                    listening.setsockopt(socket.IPPROTO_TCP, when, QUIET)
                if shared:
                    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                if untaken is not None and TCP_USER_TIMEOUT is not None:
                    listening.setsockopt(socket.IPPROTO_TCP, TCP_USER_TIMEOUT, round(untaken * 1000))
                if family == socket.AF_INET6:
                    listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, address[0] != "::")
                listening.bind(address)
                listening.listen(BACKLOG)
            except OSError as error:
                raise refused(endpoint, error.errno, option) from None
            sockets.append(listening)
        undo.pop_all()
        return sockets


def look_up(host: str) -> None:
    """Look up a host name, however long it takes. `listen` uses what was found last."""
    try:
        _looked_up[host] = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        _looked_up[host] = error


@cache
def overlap(one: str, other: str) -> bool:
    """Do two hosts to listen on share an address? Yes, if that cannot be found out."""
    try:
        first, second = ({address[0] for _, address in _addresses(Endpoint(host, 1), "bind")} for host in (one, other))
    except BindError:
        return True
    return bool(first & second or (first | second) & {"0.0.0.0", "::"})


def claim(endpoint: Endpoint, option: str) -> None:
    """Check that nobody listens on `endpoint`, not even another proxy that shares ports. Raises BindError."""
    for listening in listen(endpoint, option):
        listening.close()


def _addresses(endpoint: Endpoint, option: str) -> list[tuple[socket.AddressFamily, Any]]:
    try:
        found = _found(endpoint)
    except socket.gaierror as error:
        raise BindError(f"{endpoint}: {why_unresolved(error)}; change {option}") from None
    except OSError as error:  # the resolver got no descriptor
        raise refused(endpoint, error.errno, option) from None
    return list(dict.fromkeys((family, address) for family, _, _, _, address in found))  # without duplicates


def _found(endpoint: Endpoint) -> list[Any]:
    known = _looked_up.get(endpoint.host)
    if known is None:
        return socket.getaddrinfo(*endpoint, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    if isinstance(known, OSError):
        raise type(known)(*known.args)
    return [(*what, (address[0], endpoint.port, *address[2:])) for *what, address in known]


def refused(endpoint: Endpoint, number: int | None, option: str) -> BindError:
    """The error of a port that the system refused with this errno. `option`: the option to change."""
    if number == errno.EADDRINUSE:
        return PortTakenError(endpoint, option)
    if number == errno.EADDRNOTAVAIL:
        return BindError(f"{endpoint}: this machine has no such address; change {option}")
    if number == errno.EACCES:
        return BindError(f"{endpoint}: this user may not use the port; change {option} to 1024 or above")
    why = os.strerror(number or 0).lower()
    return BindError(f"{endpoint}: {why}; {way_out(number) if number in SCARCE else f'change {option}'}")
