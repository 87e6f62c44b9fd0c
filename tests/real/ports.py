"""Ports that nobody uses.

They are looked for below the range from which the kernel takes ports for outgoing connections: a port from that
range may be gone again by the time a broker binds it. Nor is one given again soon: it may be about to be bound.
"""

from __future__ import annotations

import random
import socket
from collections import deque
from collections.abc import Iterable

RANGE = range(15_000, 32_000)

_given: deque[int] = deque(maxlen=2_000)  # the ports that were given last


def free_port(*hosts: str) -> int:
    """A port that is free on every one of the hosts."""
    return free_block(1, *hosts)


def free_block(length: int, *hosts: str) -> int:
    """The first of `length` ports in a row, each free on every host."""
    for _ in range(1000):
        first = random.randrange(RANGE.start, RANGE.stop - length)
        block = range(first, first + length)
        if all(port not in _given and is_free(host, port) for port in block for host in hosts):
            _given.extend(block)
            return first
    raise OSError(f"no {length} free ports in a row on {list(hosts)}")


def is_free(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def accepts(addresses: Iterable[tuple[str, int]]) -> bool:
    """Whether something listens on all of the addresses."""
    for address in addresses:
        try:
            socket.create_connection(address, timeout=2).close()
        except OSError:
            return False
    return True
