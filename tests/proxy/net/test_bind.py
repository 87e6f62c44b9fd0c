from __future__ import annotations

import errno
import os
import socket

import pytest

from proxy.core.topology import Endpoint
from proxy.net.bind import BindError, claim, listen, look_up, overlap
from tests.proxy.net.scripted import LOOPBACK
from tests.real.ports import free_port


@pytest.fixture
def taken():
    with socket.create_server((LOOPBACK, 0)) as sock:
        yield sock.getsockname()[1]


def test_a_taken_port_is_said_with_its_owner_and_what_to_change(taken: int) -> None:
    with pytest.raises(BindError) as raised:
        listen(Endpoint(LOOPBACK, taken), "listeners.clients.bind")
    said = str(raised.value)
    assert said.startswith(f"{LOOPBACK}:{taken}: process {os.getpid()} (")
    assert said.endswith("has the port; stop it, or change listeners.clients.bind")


def test_an_address_of_another_machine_is_said_to_be_one() -> None:
    with pytest.raises(BindError, match=r"^192\.0\.2\.1:9192: this machine has no such address; change admin\.bind$"):
        listen(Endpoint("192.0.2.1", 9192), "admin.bind")


def test_a_name_without_address_is_said_to_be_one() -> None:
    with pytest.raises(BindError, match=r"no such host; change admin\.bind"):
        listen(Endpoint("nowhere.invalid", 9192), "admin.bind")


def test_workers_share_a_port() -> None:
    endpoint = Endpoint(LOOPBACK, free_port(LOOPBACK))
    sockets = listen(endpoint, "", shared=True) + listen(endpoint, "", shared=True)
    assert len(sockets) == 2
    for sock in sockets:
        sock.close()


def test_another_proxy_that_shares_is_found_by_a_claim() -> None:
    endpoint = Endpoint(LOOPBACK, free_port(LOOPBACK))
    for sock in listen(endpoint, "", shared=True):
        with sock, pytest.raises(BindError, match="has the port"):
            claim(endpoint, "listeners.clients.bind")
    claim(endpoint, "listeners.clients.bind")


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="no IPv6 here")
def test_the_ipv6_wildcard_takes_ipv4_clients_too() -> None:
    (sock,) = listen(Endpoint("::", free_port(LOOPBACK)), "")
    with sock, socket.create_connection((LOOPBACK, sock.getsockname()[1])):
        pass


def test_nothing_stays_open_when_one_of_several_addresses_is_taken(monkeypatch: pytest.MonkeyPatch, taken: int) -> None:
    free = free_port(LOOPBACK)
    both = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (LOOPBACK, port)) for port in (free, taken)]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **named: both)
    with pytest.raises(BindError):
        listen(Endpoint("two-addresses", 0), "")
    monkeypatch.undo()
    claim(Endpoint(LOOPBACK, free), "")


def test_a_host_that_was_looked_up_is_not_looked_up_for_each_port(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (LOOPBACK, 0))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **named: asked.append(args) or found)
    look_up("this-machine.example")
    for _ in range(3):
        port = free_port(LOOPBACK)
        (sock,) = listen(Endpoint("this-machine.example", port), "")
        with sock:
            assert sock.getsockname() == (LOOPBACK, port)
    assert len(asked) == 1


def test_a_host_that_could_not_be_looked_up_is_not_looked_up_for_each_port(monkeypatch: pytest.MonkeyPatch) -> None:
    look_up("nowhere-at-all.invalid")
    monkeypatch.setattr(socket, "getaddrinfo", None)
    with pytest.raises(BindError, match=r"no such host; change admin\.bind"):
        listen(Endpoint("nowhere-at-all.invalid", 9192), "admin.bind")


@pytest.mark.parametrize(
    ("number", "way_out"),
    [
        (errno.EMFILE, r"raise the limit of open files \(ulimit -n\)"),
        (errno.ENFILE, r"raise this machine's limit of open files \(sysctl fs\.file-max\)"),
        (errno.ENOBUFS, "free memory on this machine"),
    ],
)
def test_what_the_machine_has_too_little_of_is_said(monkeypatch: pytest.MonkeyPatch, number: int, way_out: str) -> None:
    def none_left(*_: object) -> None:
        raise OSError(number, "none left")

    monkeypatch.setattr(socket, "socket", none_left)
    with pytest.raises(BindError, match=f"^127.0.0.1:9192: .*; {way_out}$"):
        listen(Endpoint(LOOPBACK, 9192), "listeners.clients.bind")


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("127.0.0.1", "127.0.0.1", True),
        ("127.0.0.1", "localhost", True),
        ("127.0.0.1", "0.0.0.0", True),
        ("::", "127.0.0.1", True),
        ("nobody.invalid", "127.0.0.1", True),
        ("127.0.0.1", "127.0.0.2", False),
    ],
)
def test_hosts_that_share_an_address_are_known(one: str, other: str, shared: bool) -> None:
    assert overlap(one, other) is overlap(other, one) is shared
