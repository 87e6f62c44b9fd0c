"""A writer accepts every line at once; lines that its descriptor does not accept are dropped, counted and reported."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from proxy.logs import writer as module
from proxy.logs.writer import Writer

PATIENCE = 10.0


def notice(dropped: int) -> str:
    return f"{dropped} dropped"


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """A pipe, which is closed in the end: that ends whoever still writes to it."""
    reads, writes = os.pipe()
    yield reads, writes
    for end in (reads, writes):
        with suppress(OSError):  # the test closed it
            os.close(end)


def read_until(end: int, last: bytes) -> bytes:
    found = b""
    until = time.monotonic() + PATIENCE
    while last not in found:
        assert time.monotonic() < until, found[-200:]
        found += os.read(end, 65536)
    return found


def test_lines_are_written_in_their_order(pipe: tuple[int, int]) -> None:
    out = Writer(pipe[1], notice)
    for number in range(1000):
        out.write(f"line {number}")
    out.flush(PATIENCE)
    lines = read_until(pipe[0], b"line 999\n").decode().splitlines()
    assert lines == [f"line {number}" for number in range(1000)]
    assert out.dropped == 0


def test_what_no_encoding_has_is_written_too(pipe: tuple[int, int]) -> None:
    out = Writer(pipe[1], notice)
    out.write("\ud800")
    assert read_until(pipe[0], b"\n") == b"\\ud800\n"


@pytest.mark.parametrize("blocking", [True, False])
def test_a_pipe_that_nobody_empties_holds_nobody_up_and_says_later_what_was_dropped(
    pipe: tuple[int, int], blocking: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 200_000)
    os.set_blocking(pipe[1], blocking)
    out = Writer(pipe[1], notice)
    for _ in range(1000):
        out.write("x" * 999)
    out.flush(0.0)
    assert 700 <= out.dropped <= 800  # what is in the pipe and in the queue is not
    found = read_until(pipe[0], b"dropped\n")
    assert found.endswith(f"{out.dropped} dropped\n".encode())
    assert found.count(b"x" * 999 + b"\n") == 1000 - out.dropped
    out.write("again")
    assert read_until(pipe[0], b"again\n") == b"again\n"


def test_many_lines_are_dropped_as_large_ones_are(pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_LINES", 10)
    out = Writer(pipe[1], notice)
    out.write("x" * 100_000)  # more than the pipe holds
    for _ in range(100):
        out.write("")
    assert out.dropped == 91


def test_a_closed_pipe_drops_and_ends_nobody(pipe: tuple[int, int]) -> None:
    os.close(pipe[0])
    out = Writer(pipe[1], notice)
    for _ in range(100):
        out.write("x")
    out.flush(PATIENCE)
    assert out.dropped == 100


def test_a_full_disk_drops_until_there_is_room_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AGAIN", 0.01)
    file = tmp_path / "log"
    disk = os.open(file, os.O_WRONLY | os.O_CREAT)
    full = os.open("/dev/full", os.O_WRONLY)
    ours = os.dup(disk)
    out = Writer(ours, notice)
    out.write("before")
    out.flush(PATIENCE)
    os.dup2(full, ours)
    for _ in range(3):
        out.write("x")
    out.flush(PATIENCE)
    assert out.dropped == 3
    os.dup2(disk, ours)
    until = time.monotonic() + PATIENCE
    while file.read_text() != "before\n3 dropped\n":  # although nothing more is logged
        assert time.monotonic() < until, file.read_text()
    out.write("after")
    out.flush(PATIENCE)
    assert file.read_text() == "before\n3 dropped\nafter\n"
    for descriptor in (disk, full):
        os.close(descriptor)


def test_what_was_written_in_part_is_ended_before_the_next_line(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    real, answers = os.write, iter([5, OSError(28, "No space left on device")])

    def write(fd: int, data: memoryview) -> int:
        answer = next(answers, len(data))
        if isinstance(answer, OSError):
            raise answer
        return real(fd, data[:answer])

    monkeypatch.setattr(module.os, "write", write)
    out = Writer(pipe[1], notice)
    out.write("a long line")
    out.flush(PATIENCE)
    out.write("next")
    assert read_until(pipe[0], b"next\n") == b"a lon\n1 dropped\nnext\n"


def test_a_line_that_is_larger_than_the_queue_may_be_alone_in_it(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 10)
    out = Writer(pipe[1], notice)
    for text in ("x" * 100, "y" * 100):
        out.write(text)
        out.flush(PATIENCE)
    assert read_until(pipe[0], b"y\n") == b"x" * 100 + b"\n" + b"y" * 100 + b"\n"


def test_any_thread_may_write(pipe: tuple[int, int]) -> None:
    out = Writer(pipe[1], notice)
    threads = [threading.Thread(target=lambda: [out.write("x" * 100) for _ in range(100)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    out.flush(PATIENCE)
    found = read_until(pipe[0], b"\n")
    assert found == (b"x" * 100 + b"\n") * 400
