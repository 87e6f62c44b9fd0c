"""The owners of ports are found as far as this user may know them."""

from __future__ import annotations

import os
import socket

from proxy.net.port_owners import owners
from tests.proxy.net.scripted import LOOPBACK
from tests.real.ports import free_port


def test_one_look_finds_the_owners_of_several_ports() -> None:
    free = free_port(LOOPBACK)
    with socket.create_server((LOOPBACK, 0)) as one, socket.create_server((LOOPBACK, 0)) as other:
        ports = {each.getsockname()[1] for each in (one, other)}
        found = owners({*ports, free})
    assert {port for port, owner in found.items() if owner.startswith(f"process {os.getpid()} (")} == ports
    assert found[free] == "another process"


def test_only_the_process_that_listens_has_a_port() -> None:
    """A connection has the same port as the listener."""
    with socket.create_server((LOOPBACK, 0)) as listening:
        port = listening.getsockname()[1]
        with socket.create_connection((LOOPBACK, port)), listening.accept()[0]:
            listening.close()
            assert owners({port}) == {port: "another process"}
