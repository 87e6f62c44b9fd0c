"""Files are written whole or not at all."""

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from proxy.text.atomic import create_atomically, write_atomically
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


@pytest.mark.parametrize("write", [write_atomically, create_atomically])
def test_the_name_is_on_disk_after_the_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[Path, bytes], object]
) -> None:
    synced = []
    monkeypatch.setattr(
        os, "fsync", lambda fd: synced.append((stat.S_ISDIR(os.fstat(fd).st_mode), os.listdir(tmp_path)))
    )
    write(tmp_path / "file", b"new")
    assert [is_folder for is_folder, _ in synced] == [False, True]
    assert "file" not in synced[0][1]
    assert synced[1][1] == ["file"]


def test_the_first_one_that_creates_a_file_wins_and_nothing_else_is_left(tmp_path: Path) -> None:
    file = tmp_path / "file"
    assert create_atomically(file, b"mine")
    assert not create_atomically(file, b"of another process, a moment later")
    assert file.read_bytes() == b"mine"
    assert os.listdir(tmp_path) == ["file"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_nothing_is_left_of_a_process_that_is_killed_while_it_creates_one(tmp_path: Path) -> None:
    killed = "import os, pathlib, sys; os.fsync = lambda fd: os._exit(9)\n"
    killed += "from proxy.text.atomic import create_atomically; create_atomically(pathlib.Path(sys.argv[1]), b'new')"
    assert subprocess.run([sys.executable, "-c", killed, str(tmp_path / "file")], check=False).returncode == 9
    assert not list(tmp_path.iterdir())


def test_where_files_must_have_names_one_is_created_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "O_TMPFILE", os.O_DIRECTORY)  # then opening a folder to write fails, as without such files
    test_the_first_one_that_creates_a_file_wins_and_nothing_else_is_left(tmp_path)


def test_one_of_several_that_create_a_file_at_once_wins(tmp_path: Path) -> None:
    """Threads have the same process number, as processes of several containers may have."""
    with ThreadPoolExecutor(4) as threads:
        for number in range(50):
            file, together = tmp_path / str(number), Barrier(4)

            def create(content: bytes, file: Path = file, together: Barrier = together) -> bool:
                together.wait()
                return create_atomically(file, content)

            contents = (b"1", b"2", b"3", b"4")
            won = dict(zip(contents, threads.map(create, contents), strict=True))
            assert [content for content in contents if won[content]] == [file.read_bytes()]
    assert len(list(tmp_path.iterdir())) == 50
