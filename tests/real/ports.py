"""Free ports, each of which is given to one process only.

They are below the range from which the kernel takes ports for outgoing connections: a port from that range may be
taken again before a broker binds it. A port is not given again soon, because it may not be bound yet.

A port is often given long before it is bound, and workers share their ports with any process (SO_REUSEPORT): two runs
on one machine would not notice that they have the same port. So each given port is locked in a file that all runs
share (`fcntl`), as long as its process lives. The processes of one run (`-n`) have separate parts of the range: a
broker of one process may be down for a moment while another looks for ports. The fixture `kafka_faults` uses other
ports (`chaos/ports.py`).

A port is free only if no process has it at any address: a proxy that binds 0.0.0.0 would meet a broker at 127.0.0.11.

No port has a digit as its first byte: after 127.0.0.1 in a response it would look like the address of a broker.
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

from chaos.ports import is_free

ALL = range(15_000, 24_000)
PROCESSES = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
PROCESS = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
SHARE = len(ALL) // PROCESSES
RANGE = ALL[PROCESS * SHARE : (PROCESS + 1) * SHARE]
ANY = "0.0.0.0"
KEPT = 800  # ports that one process may hold; several processes at once must still find 16 in a row

_given: deque[int] = deque()  # the most recently given ports


def free_port(*hosts: str) -> int:
    """A port that is free on all these hosts."""
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
    """Lock these ports for this process; False where another process has one of them."""
    try:
        fcntl.lockf(_locks(), fcntl.LOCK_EX | fcntl.LOCK_NB, length, first)
    except OSError:
        return False
    return True


@cache
def _locks() -> int:
    """The open file of locks: the process that has port N locks byte N."""
    path = Path(tempfile.gettempdir(), f"doorkeeper-tests-{os.getuid()}.ports")
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
