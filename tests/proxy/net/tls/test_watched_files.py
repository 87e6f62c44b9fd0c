"""Objects made from files are made again when the files change."""

from __future__ import annotations

from pathlib import Path

import pytest

from proxy.config.certificates import content
from proxy.config.tls import UnusableError
from proxy.net.process import StartError
from proxy.net.tls.watched_files import WatchedFiles
from proxy.text.problems import Reload


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


def test_what_changed_is_made_again(file: Path) -> None:
    it = kept(file)
    file.write_text("second")
    assert it.look() == Reload("the certificate", taken=True)
    assert it.value == b"second"


def test_no_files_never_change() -> None:
    assert WatchedFiles("authorities of the system", [], list).look() is None


def test_what_cannot_be_made_at_first_is_no_start(file: Path) -> None:
    file.write_text("broken")
    with pytest.raises(StartError, match=r"^the certificate\.certificate: it is broken; write it anew$"):
        kept(file)


def test_what_cannot_be_used_changes_nothing_and_is_said_once(file: Path) -> None:
    it = kept(file)
    file.write_text("broken")
    said = [it.look() for _ in range(5)]
    assert it.value == b"one"
    assert said == [Reload("the certificate", False, ("it is broken; write it anew",)), *[None] * 4]
    file.write_text("third")
    it.look()
    assert it.value == b"third"


def test_a_file_that_is_gone_changes_nothing(file: Path) -> None:
    it = kept(file)
    file.unlink()
    said = [it.look() for _ in range(3)]
    assert it.value == b"one"
    assert [each is None for each in said] == [False, True, True]
