"""The demo's stage."""

import socket

import pytest

from proxy.cli.demo.stage import HOST, NotSeen, free_port


def test_a_port_is_free_together_with_those_of_the_brokers() -> None:
    port = free_port({1: "", 2: ""})
    for free in (port, port + 2, port + 3):
        with socket.socket() as one:
            one.bind((HOST, free))


def test_ids_that_no_port_can_serve_are_told() -> None:
    with pytest.raises(NotSeen, match="free ports on this machine"):
        free_port({65_535: ""})
