"""Reached: one broker that accepts a connection is enough; where none does, the reason of each is reported."""

from __future__ import annotations

import socket

import pytest

from proxy.cli.reached import NotReachedError, check_reached


@pytest.mark.parametrize(("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "[::1]")])
def test_one_broker_that_takes_a_connection_is_enough(family: socket.AddressFamily, host: str) -> None:
    with socket.create_server((host.strip("[]"), 0), family=family) as broker:
        check_reached(f"127.0.0.1:1,{host}:{broker.getsockname()[1]}")


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("127.0.0.1:1", "Connection refused"),
        ("127.0.0.1:99999999999999999999", "there is no such port"),
        ("na\u00efve..host:1", "there is no such address"),
    ],
)
def test_brokers_that_nobody_reaches_are_told_one_by_one(address: str, why: str) -> None:
    with pytest.raises(NotReachedError) as raised:
        check_reached(f"127.0.0.1:1,{address}")
    tried = f"127.0.0.1:1: Connection refused; {address}: {why}"
    assert str(raised.value) == f"no broker is reached ({tried}); check the address, and that it is up"
