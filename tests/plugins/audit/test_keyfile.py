"""Key files: made once, by whoever is first."""

from __future__ import annotations

import stat
from pathlib import Path

from plugins.audit.keyfile import made_once


def test_the_first_one_wins_and_nothing_else_is_left(tmp_path: Path) -> None:
    file = tmp_path / "key"
    assert made_once(file, b"mine") == b"mine"
    assert made_once(file, b"of another process, a moment later") == b"mine"
    assert [path.name for path in tmp_path.iterdir()] == ["key"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
