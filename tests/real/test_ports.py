"""Ports of tests: two runs on one machine never get the same port."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

from chaos.ports import is_free
from tests.real import ports
from tests.real.ports import ALL, ANY, KEPT, free_block, free_port

LOOPBACK = "127.0.0.1"
OTHER_RUN = "from tests.real import ports; print(ports._lock(int(input()), 1))"


def test_a_port_is_not_given_twice_before_many_others_were() -> None:
    given = [free_port(LOOPBACK) for _ in range(KEPT)]
    assert len(set(given)) == KEPT
    assert len(ports._given) == KEPT


def test_another_run_has_a_port_only_when_this_one_gave_it_back() -> None:
    first = free_block(3, LOOPBACK)
    assert not _can_another_run_have(first + 1)
    for _ in range(KEPT):
        free_port(LOOPBACK)
    given_back = [port for port in range(first, first + 3) if port not in ports._given]  # one may have been given again
    assert any(map(_can_another_run_have, given_back)), "a run beside this one may have one of them, but not all"


def test_a_port_that_somebody_has_at_another_address_is_not_free() -> None:
    with socket.create_server(("127.0.0.11", free_port(LOOPBACK))) as taken:
        port = taken.getsockname()[1]
        assert is_free(LOOPBACK, port)
        assert not is_free(ANY, port)


def test_processes_of_one_run_look_in_parts_of_their_own() -> None:
    parts = [_range_of(process) for process in range(3)]
    assert [len(part) for part in parts] == [len(ALL) // 3] * 3
    assert len(set().union(*parts)) == 3 * (len(ALL) // 3)


def _range_of(process: int) -> range:
    """Where this process of three looks for ports."""
    environment = os.environ | {"PYTEST_XDIST_WORKER": f"gw{process}", "PYTEST_XDIST_WORKER_COUNT": "3"}
    command = [sys.executable, "-c", "from tests.real.ports import RANGE; print(RANGE.start, RANGE.stop)"]
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    return range(*map(int, said.split()))


def _can_another_run_have(port: int) -> bool:
    """Whether another process can have this port."""
    command = [sys.executable, "-c", OTHER_RUN]
    said = subprocess.run(command, input=f"{port}\n", capture_output=True, text=True, check=True).stdout
    return said == "True\n"
