"""Splicing: the body of a passing frame is forwarded unread, as far as the other socket accepts it."""

from __future__ import annotations

import socket
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import ExitStack
from struct import pack

import pytest

from proxy.net.outgoing import AT_ONCE
from proxy.net.pipes import Pipes
from proxy.net.side import Side
from proxy.net.splicing import splice
from proxy.protocol.frame import RESPONSE_HEAD, Splitter
from proxy.protocol.problem import Fault
from tests.proxy.net.test_reactor import pair

BODY = 1 << 20


class Passing:
    """A side whose large frame began, its peer, and what both ends of them see."""

    def __init__(self, sockets: ExitStack) -> None:
        (self.sends, ours), (self.receives, its) = (map(sockets.enter_context, pair()) for _ in range(2))
        self.side, self.peer = (
            Side(sock, Splitter(RESPONSE_HEAD, _nobody, Fault.BROKER), lambda data: None, self.lose, OrderedDict())
            for sock in (ours, its)
        )
        self.side.peer, self.peer.peer = self.peer, self.side
        self.side.splitter.feed(memoryview(pack(">ii", 4 + BODY, 1)))
        self.pipes = Pipes()
        sockets.callback(self.pipes.close)
        self.lost: list[Side] = []

    def lose(self, side: Side, error: OSError) -> None:
        self.lost.append(side)


def _nobody(head: object, data: memoryview, pos: int) -> None:
    """Nobody wants any frame."""


@pytest.fixture
def passing() -> Iterator[Passing]:
    with ExitStack() as sockets:
        yield Passing(sockets)


def test_what_came_of_the_body_passes_and_then_nothing_is_there(passing: Passing) -> None:
    passing.sends.sendall(b"x" * 10_000)
    with pytest.raises(BlockingIOError):
        splice(passing.side, passing.pipes)
    assert passing.receives.recv(10_000, socket.MSG_WAITALL) == b"x" * 10_000
    assert passing.side.splitter.passing == BODY - 10_000
    assert passing.side.received == 10_000


def test_nothing_behind_the_body_passes(passing: Passing) -> None:
    passing.side.splitter.passed(BODY - 10)
    passing.sends.sendall(b"x" * 10 + b"the next frame")
    assert splice(passing.side, passing.pipes)
    assert passing.receives.recv(100) == b"x" * 10


def test_a_socket_that_takes_no_more_keeps_its_pipe_and_its_peer_is_not_read(passing: Passing) -> None:
    passing.side.splitter.passing = 1 << 40
    passing.sends.setblocking(False)
    while True:
        try:
            passing.sends.send(b"x" * 65_536)
            goes_on = splice(passing.side, passing.pipes)
        except BlockingIOError:
            continue
        assert not goes_on
        break
    assert passing.peer.stalled
    assert passing.peer.kept
    assert passing.side.blocked
    passing.peer.close()


def test_an_end_in_the_middle_is_told(passing: Passing) -> None:
    passing.sends.close()
    with pytest.raises(EOFError):
        splice(passing.side, passing.pipes)


def test_the_socket_that_broke_is_told_of_and_not_the_one_that_was_read(passing: Passing) -> None:
    passing.receives.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
    passing.receives.close()
    passing.sends.sendall(b"x" * 10_000)
    assert not splice(passing.side, passing.pipes)
    assert passing.lost == [passing.peer]
