"""Ports that nobody uses, and that nobody else is given.

They are looked for below the range from which the kernel takes ports for outgoing connections: a port from that
range may be gone again by the time a broker binds it. Nor is one given again soon: it may be about to be bound.

A port is often given long before it is bound, and workers share theirs with whoever asks (SO_REUSEPORT): two runs on
one machine would not notice that they have the same. So each port that is given is locked in a file of all runs
(`fcntl`), as long as its process lives. Processes of one run (`-n`) look in parts of their own: a broker of the one may
be down for a moment while the other looks. The fixture `kafka_faults` looks elsewhere (`chaos/fixture/ports.py`).

A port is free only if nobody has it at any address: a proxy that binds 0.0.0.0 would meet a broker at 127.0.0.11.

No port has a digit as its first byte: behind 127.0.0.1 in an answer it would look like the address of a broker.
"""

from __future__ import annotations

import fcntl
import os
import random
import socket
import tempfile
from collections import deque
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from chaos.fixture.ports import is_free

ALL = range(15_000, 24_000)
PROCESSES = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
PROCESS = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
SHARE = len(ALL) // PROCESSES
RANGE = ALL[PROCESS * SHARE : (PROCESS + 1) * SHARE]
ANY = "0.0.0.0"
KEPT = 800  # ports that a process has at a time; several processes at once must find 16 in a row

_given: deque[int] = deque()  # the ports that were given last


def free_port(*hosts: str) -> int:
    """A port that is free on every one of the hosts."""
    return free_block(1, *hosts)


def free_block(length: int, *hosts: str) -> int:
    """The first of `length` ports in a row, each free on every host."""
    for _ in range(1000):
        first = random.randrange(RANGE.start, RANGE.stop - length)
        block = range(first, first + length)
        if any(port in _given for port in block) or not _lock(first, length):
            continue
        if all(is_free(host, port) for port in block for host in (ANY, *hosts)):
            _given.extend(block)
            while len(_given) > KEPT:
                fcntl.lockf(_locks(), fcntl.LOCK_UN, 1, _given.popleft())
            return first
        fcntl.lockf(_locks(), fcntl.LOCK_UN, length, first)
    raise OSError(f"no {length} free ports in a row in {RANGE} on {list(hosts)}")


def accepts(addresses: Iterable[tuple[str, int]]) -> bool:
    """Whether something listens on all of the addresses."""
    for address in addresses:
        try:
            socket.create_connection(address, timeout=2).close()
        except OSError:
            return False
    return True


def _lock(first: int, length: int) -> bool:
    """Have these ports for this process alone; false where another has one of them."""
    try:
        fcntl.lockf(_locks(), fcntl.LOCK_EX | fcntl.LOCK_NB, length, first)
    except OSError:
        return False
    return True


@cache
def _locks() -> int:
    """The file whose byte at the number of a port is locked by the process that has it. It stays open."""
    path = Path(tempfile.gettempdir(), f"doorkeeper-tests-{os.getuid()}.ports")
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
