"""Bounded reading."""

from __future__ import annotations

import errno
import io
from pathlib import Path

import pytest

from proxy.text import bounded
from proxy.text.bounded import LONGEST_LINE, bounded_lines, read_bounded

ENDLESS = Path("/dev/zero")


def test_an_input_is_read_to_its_end() -> None:
    assert read_bounded(io.BytesIO(b"abc")) == b"abc"
    assert read_bounded(io.StringIO("abc")) == "abc"


def test_an_input_without_end_is_refused_with_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "MOST", 1 << 20)
    with ENDLESS.open("rb") as stream, pytest.raises(OSError, match="File too large: more than 1 MiB") as raised:
        read_bounded(stream)
    assert (raised.value.errno, raised.value.filename) == (errno.EFBIG, "/dev/zero")


def test_lines_come_as_they_are() -> None:
    assert list(bounded_lines(io.StringIO("one\n\ntwo"))) == ["one\n", "\n", "two"]
    whole = "x" * (LONGEST_LINE - 1) + "\n"
    assert list(bounded_lines(io.StringIO(whole + "y"))) == [whole, "y"]


def test_a_line_without_end_is_refused() -> None:
    with ENDLESS.open() as stream, pytest.raises(OSError, match="a line of more than 1,048,576 characters"):
        next(bounded_lines(stream))
