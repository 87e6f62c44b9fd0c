from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from proxy.text.regular import open_regular, place_of, read_instead, way_out, why_unread


def test_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"what it says")
    with open_regular(tmp_path / "file") as opened:
        assert opened.read() == b"what it says"


def listening(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(os.fspath(path))


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero"), listening])
def test_what_might_never_end_is_refused_at_once(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "file")
    with pytest.raises(OSError, match=r"no regular file|No such device"):
        open_regular(tmp_path / "file")


def test_a_folder_and_what_is_not_there_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        open_regular(tmp_path)
    with pytest.raises(FileNotFoundError):
        open_regular(tmp_path / "nothing")


def test_permissions_are_to_be_checked_only_where_these_are_the_reason(tmp_path: Path) -> None:
    assert way_out(PermissionError(13, "Permission denied")) == "check its permissions"
    with pytest.raises(IsADirectoryError) as folder:
        open_regular(tmp_path)
    assert way_out(folder.value) == "name a file in it"
    with pytest.raises(OSError, match="no regular file") as device:
        open_regular("/dev/null")
    assert way_out(device.value) == "check the path"


def test_a_file_that_could_not_be_read_is_told_with_a_way_out(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError) as folder:
        open_regular(tmp_path)
    assert why_unread(folder.value) == "this is a folder; name a file in it"
    with pytest.raises(FileNotFoundError) as nothing:
        open_regular(tmp_path / "nothing")
    assert why_unread(nothing.value) == "there is no such file; check the path"
    with pytest.raises(OSError, match="no regular file") as device:
        open_regular("/dev/null")
    assert why_unread(device.value) == "cannot be read (no regular file); check the path"
    assert why_unread(PermissionError(13, "No")) == "cannot be read (No); check its permissions"


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        with pytest.raises(OSError, match="no regular file"):
            open_regular(tmp_path / "pipe")
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_file_may_have_another_content_for_a_while(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"broken")
    (tmp_path / "other").write_bytes(b"as it is")
    gone = str(tmp_path / "gone")
    with read_instead({str(tmp_path / "file"): b"what was in force", gone: b"this too"}):
        for name, content in (("file", b"what was in force"), ("gone", b"this too"), ("other", b"as it is")):
            for _ in range(2):
                with open_regular(tmp_path / name) as opened:
                    assert opened.read() == content
        assert os.stat(place_of(gone)).st_mode & 0o777 == 0o600
    with open_regular(tmp_path / "file") as opened:
        assert opened.read() == b"broken"
    assert place_of(gone) == gone
