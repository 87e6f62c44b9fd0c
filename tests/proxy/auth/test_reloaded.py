"""A file is read again when it changes."""

import os
from pathlib import Path

import pytest

from proxy.auth.reloaded import Reloaded
from proxy.text.problems import BadFileError


def number(file: str) -> int:
    text = Path(file).read_text()
    if not text.isdigit():
        raise BadFileError([])
    return int(text)


def test_what_changed_is_read_and_what_did_not_is_not(tmp_path: Path) -> None:
    file = tmp_path / "n"
    file.write_text("1")
    reloaded = Reloaded(str(file), number)
    assert not reloaded.look()
    fresh = tmp_path / "fresh"
    fresh.write_text("2")
    os.replace(fresh, file)
    assert reloaded.look()
    assert reloaded.value == 2
    assert not reloaded.look()


def test_a_broken_file_is_told_once_and_the_old_value_stays(tmp_path: Path) -> None:
    file = tmp_path / "n"
    file.write_text("1")
    reloaded = Reloaded(str(file), number)
    file.write_text("broken")
    with pytest.raises(BadFileError):
        reloaded.look()
    assert not reloaded.look()
    assert reloaded.value == 1
    file.write_text("35")
    assert reloaded.look()
    assert reloaded.value == 35


def test_a_file_that_never_was_right_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "n"
    file.write_text("broken")
    with pytest.raises(BadFileError):
        Reloaded(str(file), number)
