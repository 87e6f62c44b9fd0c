"""Files are written whole or not at all."""

import os
from pathlib import Path

import pytest

from proxy.text.atomic import write_atomically
from proxy.text.stamp import stamp


def test_the_content_takes_the_place_of_the_old_and_its_stamp_is_known(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("old")
    file.chmod(0o640)
    assert write_atomically(file, b"new") == stamp(file)
    assert file.read_text() == "new"
    assert file.stat().st_mode & 0o7777 == 0o640
    assert os.listdir(tmp_path) == ["file"]


def test_a_new_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    write_atomically(tmp_path / "file", b"new")
    assert (tmp_path / "file").stat().st_mode & 0o7777 == 0o600


def test_nothing_is_written_where_something_speaks_against_it(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("old")
    assert write_atomically(file, b"new", unless=lambda: True) is None
    assert file.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    file = tmp_path / "file"
    file.write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(file, b"new")
    assert file.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]
