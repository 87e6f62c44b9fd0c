from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from plugins.audit.plain_files import below, create, is_plain, listed, pass_over

DEPTH = 1_000


def test_a_link_and_a_pipe_are_no_plain_files(tmp_path: Path) -> None:
    file, link, pipe = (tmp_path / name for name in ("file", "link", "pipe"))
    file.write_text("x")
    link.symlink_to(file)
    os.mkfifo(pipe)
    found = [is_plain(path) for path in (file, link, pipe, tmp_path, tmp_path / "nothing", file / "below")]
    assert found == [True, False, False, False, False, False]


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """A folder so deep that what removes temporary folders, which is recursive, could not remove it."""
    deep = tmp_path
    for _ in range(DEPTH):
        deep = deep / "d"
        deep.mkdir()
    yield deep
    (deep / "file").unlink()
    while deep != tmp_path:
        deep.rmdir()
        deep = deep.parent


def test_what_lies_below_a_folder_is_found_and_no_link_is_followed(tmp_path: Path, deep: Path) -> None:
    (deep / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path)
    assert below(tmp_path) == [deep / "file", tmp_path / "link"]
    assert below(tmp_path / "nothing") == below(tmp_path / "link" / "link" / "x") == []


def test_a_folder_that_cannot_be_read_is_an_error_or_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(folder: Path) -> NoReturn:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))

    monkeypatch.setattr(os, "scandir", refused)
    with pytest.raises(PermissionError):
        below(tmp_path)
    assert listed(tmp_path, pass_over) == []


def test_a_new_file_takes_the_place_of_a_link(tmp_path: Path) -> None:
    victim, link = tmp_path / "victim", tmp_path / "link"
    victim.write_text("somebody else's")
    link.symlink_to(victim)
    with create(link) as opened:
        opened.write(b"ours")
    assert (link.is_symlink(), link.read_bytes(), victim.read_text()) == (False, b"ours", "somebody else's")
