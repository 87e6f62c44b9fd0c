"""Key files: created once, by the first process."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from plugins.audit.keyfile import content_of, made_once
from plugins.audit.pseudonyms import pseudonyms
from plugins.audit.signing import public_key, signing_key


def test_the_first_one_wins_and_nothing_else_is_left(tmp_path: Path) -> None:
    file = tmp_path / "key"
    assert made_once(file, b"mine") == b"mine"
    assert made_once(file, b"of another process, a moment later") == b"mine"
    assert [path.name for path in tmp_path.iterdir()] == ["key"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_nothing_is_left_of_a_process_that_is_killed_while_it_makes_one(tmp_path: Path) -> None:
    killed = "import os, pathlib, sys; os.fsync = lambda fd: os._exit(9)\n"
    killed += "from plugins.audit.keyfile import made_once; made_once(pathlib.Path(sys.argv[1]), b'key')"
    assert subprocess.run([sys.executable, "-c", killed, str(tmp_path / "key")], check=False).returncode == 9
    assert not list(tmp_path.iterdir())


def test_where_files_must_have_names_one_is_made_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "O_TMPFILE", os.O_DIRECTORY)  # then opening a folder to write fails, as without such files
    test_the_first_one_wins_and_nothing_else_is_left(tmp_path)


def test_all_that_make_one_at_once_have_the_key_of_the_file(tmp_path: Path) -> None:
    """Threads have the same process number, as processes of several containers may have."""
    with ThreadPoolExecutor(4) as threads:
        for number in range(50):
            file, together = tmp_path / str(number), Barrier(4)

            def make(content: bytes, file: Path = file, together: Barrier = together) -> bytes:
                together.wait()
                return made_once(file, content)

            assert set(threads.map(make, (b"1", b"2", b"3", b"4"))) == {file.read_bytes()}
    assert len(list(tmp_path.iterdir())) == 50


@pytest.mark.parametrize("read", [content_of, signing_key, public_key, pseudonyms])
@pytest.mark.parametrize("put", [os.mkfifo, lambda file: file.symlink_to("/dev/zero"), lambda file: file.mkdir()])
def test_what_is_no_regular_file_is_refused_at_once(
    tmp_path: Path, put: Callable[[Path], object], read: Callable[[Path], object]
) -> None:
    file = tmp_path / "key"
    put(file)
    with pytest.raises(OSError, match=r"no regular file|Is a directory") as raised:
        read(file)
    assert raised.value.filename == file
