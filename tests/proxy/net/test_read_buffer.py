"""The read buffer: posted bytes leave in order and unchanged, whatever happens to a side meanwhile."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from proxy.net.backlog import BUFFER
from proxy.net.read_buffer import ROOMS, SMALL, ReadBuffer
from proxy.net.side import Side
from proxy.protocol.frame import RESPONSE_HEAD, Buffer
from proxy.protocol.problem import Fault
from proxy.protocol.splitter import Splitter
from tests.proxy.net.otherwise import Otherwise
from tests.proxy.net.test_reactor import pair


class Posting:
    """A buffer, and what was told of it."""

    def __init__(self, sockets: ExitStack) -> None:
        self.failures: list[tuple[Side, str]] = []
        self.buffer = ReadBuffer(lambda side, error: self.failures.append((side, str(error))))
        self._sockets = sockets

    def side(self) -> tuple[Side, Callable[[int], bytes]]:
        """A side, and what comes at the other end of it, so many bytes."""
        other, ours = map(self._sockets.enter_context, pair())
        other.settimeout(5)
        splitter = Splitter(RESPONSE_HEAD, lambda head, data, pos: None, Fault.BROKER)
        side = Side(ours, splitter, lambda side, error: None, OrderedDict())
        return side, other.makefile("rb").read

    def read(self, data: bytes) -> memoryview:
        """As from a socket."""
        self.buffer.room[: len(data)] = data
        return self.buffer.room[: len(data)]


@pytest.fixture
def posting() -> Iterator[Posting]:
    with ExitStack() as sockets:
        yield Posting(sockets)


def test_what_is_posted_stays_as_it_was_read_until_it_is_delivered(posting: Posting) -> None:
    side, came = posting.side()
    for data in (b"first", b"second"):
        posting.buffer.post(side, posting.read(data))
    posting.buffer.deliver()
    assert came(11) == b"firstsecond"


def test_there_is_always_room_for_a_whole_read(posting: Posting) -> None:
    side, came = posting.side()
    pieces = [bytes([number]) * 100 for number in range(3 * ROOMS)]
    for number, piece in enumerate(pieces):
        if number % ROOMS == 0:  # the last room was taken: all was delivered
            assert came(100 * ROOMS if number else 0) == b"".join(pieces[max(number - ROOMS, 0) : number])
        posting.buffer.post(side, posting.read(piece))
        assert len(posting.buffer.room) == BUFFER


def test_what_lies_in_one_room_reaches_no_other(posting: Posting) -> None:
    side, came = posting.side()
    pieces = [bytes([number]) * SMALL for number in range(4)]
    for piece in pieces:
        posting.buffer.post(side, posting.read(piece))
    posting.buffer.deliver()
    assert came(4 * SMALL) == b"".join(pieces)


def test_a_side_that_fails_is_told_of_and_the_others_get_what_is_theirs(posting: Posting) -> None:
    def broken(data: Buffer) -> int:
        raise RuntimeError("a bug")

    (failing, _), (side, came) = posting.side(), posting.side()
    failing.sock = Otherwise(failing.sock, send=broken)
    for each in (failing, side):
        posting.buffer.post(each, posting.read(b"data"))
    posting.buffer.deliver()
    assert posting.failures == [(failing, "a bug")]
    assert came(4) == b"data"
