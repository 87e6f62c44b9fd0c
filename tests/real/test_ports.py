"""Ports of tests: two runs on one machine are never given the same."""

from __future__ import annotations

import subprocess
import sys

from tests.real import ports
from tests.real.ports import KEPT, free_block, free_port

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
    assert _can_another_run_have(first + 1)


def _can_another_run_have(port: int) -> bool:
    """Whether another process can have this port."""
    command = [sys.executable, "-c", OTHER_RUN]
    said = subprocess.run(command, input=f"{port}\n", capture_output=True, text=True, check=True).stdout
    return said == "True\n"
