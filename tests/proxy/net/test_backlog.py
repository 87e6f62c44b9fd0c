"""The backlog: bytes that a socket did not accept are sent later, in order, from where it stopped."""

import pytest

from proxy.net.backlog import BUFFER, Backlog
from proxy.protocol.frame import Buffer


class Slow:
    """Takes so many bytes at a time, and none every other time."""

    def __init__(self, portion: int) -> None:
        self.taken = b""
        self._portion = portion
        self._is_full = False

    def write(self, data: Buffer) -> int:
        self._is_full = not self._is_full
        if not self._is_full:
            raise BlockingIOError
        self.taken += bytes(data[: self._portion])
        return min(len(data), self._portion)


@pytest.mark.parametrize("portion", [1, 2, 3, 100])
def test_what_was_not_taken_leaves_in_order(portion: int) -> None:
    backlog, slow = Backlog(), Slow(portion)
    backlog.keep(b"a first piece", 2)
    backlog.keep(b"and more", 0)
    assert backlog.size == 19
    while not backlog.flush(slow.write):
        assert backlog.size == 19 - len(slow.taken)
    assert slow.taken == b"first pieceand more"
    assert backlog.size == backlog.held == 0


def test_what_is_lent_is_copied_and_a_part_of_a_large_piece_keeps_all_of_it() -> None:
    backlog, slow = Backlog(), Slow(100)
    lent, large = bytearray(b"lent"), bytearray(2 * BUFFER)
    backlog.keep(memoryview(lent), 0)
    lent[:] = b"used"
    backlog.keep(memoryview(large), 10)
    assert (backlog.size, backlog.held) == (4 + 2 * BUFFER - 10, 4 + 2 * BUFFER)
    assert not backlog.flush(slow.write)
    assert slow.taken.startswith(b"lent")
    backlog.drop()
    assert backlog.held == 0
