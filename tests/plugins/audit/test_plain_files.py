from __future__ import annotations

import os
from pathlib import Path

from plugins.audit.plain_files import create, is_plain


def test_a_link_and_a_pipe_are_no_plain_files(tmp_path: Path) -> None:
    file, link, pipe = (tmp_path / name for name in ("file", "link", "pipe"))
    file.write_text("x")
    link.symlink_to(file)
    os.mkfifo(pipe)
    found = [is_plain(path) for path in (file, link, pipe, tmp_path, tmp_path / "nothing", file / "below")]
    assert found == [True, False, False, False, False, False]


def test_a_new_file_takes_the_place_of_a_link(tmp_path: Path) -> None:
    victim, link = tmp_path / "victim", tmp_path / "link"
    victim.write_text("somebody else's")
    link.symlink_to(victim)
    with create(link) as opened:
        opened.write(b"ours")
    assert (link.is_symlink(), link.read_bytes(), victim.read_text()) == (False, b"ours", "somebody else's")
