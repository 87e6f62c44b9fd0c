"""The demo's stage."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from chaos.ports import free_blocks
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
def no_block_is_free() -> Iterator[None]:
    """The port of the last broker is taken in each block."""
    with ExitStack() as taken:
        for port in free_blocks(2 + BROKERS):
            one = taken.enter_context(socket.socket())
            one.bind((HOST, port + 1 + BROKERS))
        yield


@pytest.mark.usefixtures("no_block_is_free")
def test_a_machine_without_free_ports_is_told() -> None:
    with pytest.raises(NotSeen, match="free ports on this machine"):
        free_port()
