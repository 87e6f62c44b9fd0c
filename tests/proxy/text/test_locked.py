"""A locked file is changed by one program at a time."""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path

import pytest

from proxy.text.locked import LockedError, locked

LIMIT = 30.0  # seconds until a test gives up


def is_locked(path: Path) -> bool:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def test_a_file_or_a_folder_is_locked_until_the_end_even_if_that_is_an_error(tmp_path: Path) -> None:
    (file := tmp_path / "file").touch()
    for path in (file, tmp_path):
        with locked(path):
            assert is_locked(path)
        assert not is_locked(path)
        with pytest.raises(FileNotFoundError), locked(path):
            (tmp_path / "none").read_text()
        assert not is_locked(path)


def test_a_lock_that_is_never_given_back_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxy.text.locked.PATIENCE", 0.05)
    with (
        locked(tmp_path),
        pytest.raises(LockedError, match=rf"^{tmp_path} is locked by another program; find out which: fuser "),
        locked(tmp_path),
    ):
        pass


def test_what_is_not_there_is_not_locked(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), locked(tmp_path / "none"):
        pass


def test_a_file_that_was_replaced_meanwhile_is_locked_in_the_place_of_the_old_one(tmp_path: Path) -> None:
    (file := tmp_path / "file").write_text("old")
    (fresh := tmp_path / "fresh").write_text("new")
    seen: list[tuple[str, bool]] = []

    def change() -> None:
        with locked(file):
            seen.append((file.read_text(), is_locked(file)))

    other = threading.Thread(target=change)
    with locked(file):
        other.start()
        os.replace(fresh, file)
    other.join(LIMIT)
    assert seen == [("new", True)]
