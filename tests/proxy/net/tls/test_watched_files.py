"""What files are made into again when they change."""

from __future__ import annotations

from pathlib import Path

import pytest
from structlog.testing import capture_logs

from proxy.config.certificates import content
from proxy.config.tls import UnusableError
from proxy.net.tls.watched_files import WatchedFiles


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "file"
    file.write_text("one")
    return file


def kept(file: Path) -> WatchedFiles[bytes]:
    def make() -> bytes:
        data = content(str(file), "certificate")
        if data == b"broken":
            raise UnusableError("certificate", "it is broken", "write it anew")
        return data

    return WatchedFiles("the certificate", [str(file)], make)


def test_a_change_counts_once_it_is_there_for_two_looks(file: Path) -> None:
    it = kept(file)
    file.write_text("second")
    it.look()
    assert it.current == b"one"
    it.look()
    assert it.current == b"second"


def test_what_cannot_be_used_changes_nothing_and_is_said_once(file: Path) -> None:
    it = kept(file)
    file.write_text("broken")
    with capture_logs() as said:
        for _ in range(5):
            it.look()
    assert it.current == b"one"
    (line,) = said
    assert line["why"] == "it is broken; write it anew"
    file.write_text("third")
    it.look()
    it.look()
    assert it.current == b"third"


def test_a_file_that_is_gone_changes_nothing(file: Path) -> None:
    it = kept(file)
    file.unlink()
    with capture_logs() as said:
        for _ in range(3):
            it.look()
    assert it.current == b"one"
    assert len(said) == 1
