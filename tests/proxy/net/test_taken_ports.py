"""Lines about taken ports name the process that has the port, and one look answers for many."""

from __future__ import annotations

import os
import socket
from collections.abc import Collection

import pytest
import trio
from structlog.testing import capture_logs

from proxy.core.topology import Endpoint
from proxy.net import taken_ports as module
from proxy.net.bind import PortTakenError
from proxy.net.port_owners import owners
from proxy.net.taken_ports import APART, TakenPorts
from tests.proxy.net.scripted import LOOPBACK, PATIENCE


def taken(port: int) -> PortTakenError:
    return PortTakenError(Endpoint(LOOPBACK, port), "listeners.clients.bind")


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[set[int]]:
    """The ports of each look."""
    looks = []

    def looked(ports: Collection[int]) -> dict[int, str]:
        looks.append(set(ports))
        return owners(ports)

    monkeypatch.setattr(module, "owners", looked)
    return looks


async def test_lines_that_come_together_are_written_after_one_look(
    nursery: trio.Nursery, looks: list[set[int]]
) -> None:
    lines = TakenPorts()
    with capture_logs() as logs, socket.create_server((LOOPBACK, 0)) as listening:
        port = listening.getsockname()[1]
        for node_id in range(10):
            lines.tell(taken(port + node_id), "no port for a broker", broker=node_id)
        assert logs == []
        nursery.start_soon(lines.watch)
        with trio.fail_after(PATIENCE):
            while len(logs) < 10:
                await trio.lowlevel.checkpoint()
    assert looks == [{*range(port, port + 10)}]
    assert [line["broker"] for line in logs] == [*range(10)]
    assert logs[0]["log_level"] == "error"
    assert logs[0]["why"].startswith(f"{LOOPBACK}:{port}: process {os.getpid()} (")
    assert logs[0]["why"].endswith("has the port; stop it, or change listeners.clients.bind")


async def test_the_next_look_is_later(
    nursery: trio.Nursery, looks: list[set[int]], autojump_clock: trio.testing.MockClock
) -> None:
    lines, began = TakenPorts(), trio.current_time()
    nursery.start_soon(lines.watch)
    for port in (1, 2, 3):
        with capture_logs() as logs:
            lines.tell(taken(port), "no port for a broker")
            while not logs:
                await trio.sleep(0.1)
    assert looks == [{1}, {2}, {3}]
    assert trio.current_time() - began >= 2 * APART
