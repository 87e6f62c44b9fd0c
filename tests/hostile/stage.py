"""The scripted broker, node 2 of the cluster: it answers honestly unless a case gives it another play.

Rules:
* A case sets `play`. It handles each connection of the proxy, in a thread of its own, until it returns.
* `heard` is every byte received since the case began. Cases search it for data that may not reach a broker.
* Between two cases all connections are closed, and the broker is honest again.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

from proxy.protocol.frame import SIZE
from proxy.protocol.problem import ProtocolError
from tests.hostile.answers import Told, answer, empty_answer, opening_answer
from tests.hostile.canary import REAL

NODE = 2
KEPT = 64 << 20


class Peer:
    """One connection of the proxy to a scripted broker."""

    def __init__(self, stage: Stage, sock: socket.socket) -> None:
        self.stage = stage
        self.sock = sock

    def frames(self) -> Iterator[bytes]:
        """Each request, without its size, until the proxy closes."""
        while (head := self._exactly(SIZE.size)) and (frame := self._exactly(SIZE.unpack(head)[0])):
            if len(self.stage.heard) < KEPT:
                self.stage.asked.append(frame)
            yield frame

    def _exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            more = self.sock.recv(min(size - len(data), 1 << 20))
            if not more:
                return b""
            data += more
            if len(self.stage.heard) < KEPT:
                self.stage.heard += more
        return bytes(data)

    def answer(self, frame: bytes) -> bytes:
        """An honest broker's response to this request; empty where there is none."""
        return answer(frame, self.stage.told, self.stage.node_id) or b""

    def send(self, data: bytes) -> int:
        """Send it all, and give its length."""
        view = memoryview(data)
        while view:
            count = self.sock.send(view)
            self.stage.sent += count
            view = view[count:]
        return len(data)

    def reset_after(self, data: bytes) -> None:
        """Send this, and reset the connection."""
        self.send(data)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    def wait(self) -> bool:
        """Do nothing until the case is over."""
        return self.stage.over.wait()


Play = Callable[[Peer], object]


def honest(peer: Peer) -> None:
    """Answers each request as a real broker does."""
    for frame in peer.frames():
        peer.send(peer.answer(frame))


def brief(peer: Peer) -> None:
    """Gives blank responses without decoding requests, for requests that are expensive to decode."""
    for frame in peer.frames():
        peer.send(empty_answer(frame))


def opening(peer: Peer) -> None:
    """Gives blank responses, and opens a session with each Fetch."""
    for session_id, frame in enumerate(peer.frames(), 1):
        peer.send(opening_answer(frame, session_id))


def silent(peer: Peer) -> None:
    """Reads, and answers nothing."""
    for _ in peer.frames():
        pass


class Stage:
    """A broker that listens at once. `told` are the brokers in its responses: only itself unless a case sets more."""

    def __init__(self, node_id: int = NODE, port: int = 0) -> None:
        self.node_id = node_id
        self.port = port
        self._listening: socket.socket | None = None
        self._peers: set[socket.socket] = set()
        self.over = threading.Event()
        self.reset()

    def reset(self) -> None:
        """Begin anew: listen, honest, and with nothing heard."""
        self.hang_up()
        if self._listening is None:
            self._listening = listening = socket.create_server((REAL, self.port), backlog=512)
            self.port = listening.getsockname()[1]
            threading.Thread(target=self._accept, args=(listening,), daemon=True).start()
        self.play: Play = honest
        self.told: Told = {self.node_id: (REAL, self.port)}
        self.heard = bytearray()
        self.asked: list[bytes] = []  # its requests
        self.came = 0  # connections
        self.sent = 0  # bytes
        self.over = threading.Event()
        self.may_speak = threading.Event()  # a case sets it for a play that waits

    def hang_up(self) -> None:
        """Close all connections."""
        self.over.set()
        for sock in tuple(self._peers):
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def die(self) -> None:
        """Stop listening until `reset`, and close all connections."""
        listening, self._listening = self._listening, None
        if listening is not None:
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            listening.close()
        self.hang_up()

    def _accept(self, listening: socket.socket) -> None:
        while True:
            try:
                sock, _ = listening.accept()
            except OSError:
                return
            self.came += 1
            self._peers.add(sock)
            threading.Thread(target=self._perform, args=(sock,), daemon=True).start()

    def _perform(self, sock: socket.socket) -> None:
        with sock, suppress(OSError, ProtocolError, LookupError):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.play(Peer(self, sock))
        self._peers.discard(sock)
