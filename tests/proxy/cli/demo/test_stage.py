"""The demo's stage."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from proxy.cli.demo.stage import BROKERS, HOST, NotSeen, free_port

KERNEL = Path("/proc/sys/net/ipv4/ip_local_port_range")


def test_a_port_is_free_together_with_those_of_the_brokers() -> None:
    port = free_port()
    for free in (port, *(port + 1 + node_id for node_id in range(1, BROKERS + 1))):
        with socket.socket() as one:
            one.bind((HOST, free))


def test_no_outgoing_connection_is_given_the_port_before_it_is_bound() -> None:
    first, _ = map(int, KERNEL.read_text().split())
    assert free_port() + 1 + BROKERS < first


@pytest.fixture
def no_block_is_free(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """There is one block, and the port of its last broker is taken: other tests keep their blocks meanwhile."""
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        first = taken.getsockname()[1] - 1 - BROKERS
        monkeypatch.setattr("chaos.ports.RANGE", range(first, first + 1))
        yield


@pytest.mark.usefixtures("no_block_is_free")
def test_a_machine_without_free_ports_is_told() -> None:
    with pytest.raises(NotSeen, match="free ports on this machine"):
        free_port()
