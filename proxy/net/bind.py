"""Binding: a listening socket, or one line that says who has the port and what to change.

Rules:
* Nothing here waits: a port is open when `listen` returns.
* Several workers share their ports (SO_REUSEPORT). A second proxy could then share them too, unnoticed. So the process
  that starts the workers first claims each port without sharing (`claim`).
* `::` listens for IPv4 too, as Java does; any other address for its own family.
"""

import errno
import os
import socket
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from typing import Any

from proxy.core.topology import Endpoint
from proxy.text.scarce import MORE_DESCRIPTORS, SCARCE

TCP_USER_TIMEOUT = getattr(socket, "TCP_USER_TIMEOUT", None)  # only on Linux
BACKLOG = 1024  # after a broker died, its clients reconnect all at once
LISTEN = "0A"  # "listening", in the kernel's table /proc/net/tcp


class BindError(Exception):
    """A port that cannot be opened: which one, why, and what to do about it."""

    def __init__(self, why: str | Callable[[], str]) -> None:
        super().__init__(why)
        self._why = why

    def __str__(self) -> str:
        """The reason. A function may find it out only now: it takes a while to learn who has a port."""
        if not isinstance(self._why, str):
            self._why = self._why()
        return self._why


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
                listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # what it accepts has it too
                if shared:
                    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                if untaken is not None and TCP_USER_TIMEOUT is not None:  # likewise
                    listening.setsockopt(socket.IPPROTO_TCP, TCP_USER_TIMEOUT, round(untaken * 1000))
                if family == socket.AF_INET6:
                    listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, address[0] != "::")
                listening.bind(address)
                listening.listen(BACKLOG)
            except OSError as error:
                raise BindError(partial(_refused, endpoint, error.errno, option)) from None
            sockets.append(listening)
        undo.pop_all()
        return sockets


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
        found = socket.getaddrinfo(endpoint.host, endpoint.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except socket.gaierror:
        raise BindError(f"{endpoint}: no such host; change {option}") from None
    except OSError as error:  # the resolver got no descriptor
        raise BindError(_refused(endpoint, error.errno, option)) from None
    return list(dict.fromkeys((family, address) for family, _, _, _, address in found))  # without duplicates


def _refused(endpoint: Endpoint, number: int | None, option: str) -> str:
    if number == errno.EADDRINUSE:
        return f"{endpoint}: {owner(endpoint.port)} has the port; stop it, or change {option}"
    if number == errno.EADDRNOTAVAIL:
        return f"{endpoint}: this machine has no such address; change {option}"
    if number == errno.EACCES:
        return f"{endpoint}: this user may not use the port; change {option} to 1024 or above"
    if number in SCARCE:
        return f"{endpoint}: {os.strerror(number or 0).lower()}; {MORE_DESCRIPTORS}"
    return f"{endpoint}: {os.strerror(number or 0).lower()}; change {option}"


def owner(port: int) -> str:
    """The process that listens on a port of this machine, as far as this user may know."""
    wanted = {f"socket:[{inode}]" for inode in _inodes(port)}
    for process in _processes():
        try:
            if any(os.readlink(descriptor) in wanted for descriptor in (process / "fd").iterdir()):
                command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
                return f"process {process.name} ({command[:60]})"
        except OSError:
            continue  # another user's process, or one that ended meanwhile
    return "another process"


def _processes() -> list[Path]:
    try:
        return list(Path("/proc").glob("[0-9]*"))
    except OSError:
        return []  # no descriptor is left for this


def _inodes(port: int) -> set[str]:
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            lines = Path(table).read_text().splitlines()[1:]
        except OSError:
            continue  # not Linux, or no IPv6
        for columns in map(str.split, lines):
            if columns[3] == LISTEN and int(columns[1].rpartition(":")[2], 16) == port:
                found.add(columns[9])
    return found
