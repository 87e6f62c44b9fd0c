"""Stamps: every way in which a file changes shows."""

import os
from pathlib import Path

from proxy.text.stamp import stamp


def test_a_file_that_stays_has_the_same_stamp(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("a")
    assert stamp(file) == stamp(str(file))


def test_a_file_that_is_rewritten_replaced_or_removed_has_another(tmp_path: Path) -> None:
    file, other = tmp_path / "file", tmp_path / "other"
    assert stamp(file) is None
    file.write_text("a")
    seen = [stamp(file)]
    file.write_text("longer")
    seen.append(stamp(file))
    other.write_text("longer")
    os.replace(other, file)
    seen.append(stamp(file))
    os.utime(file, ns=(1, 1))
    seen.append(stamp(file))
    file.unlink()
    seen.append(stamp(file))
    assert len(set(seen)) == len(seen)
