"""Key files: created once, by the first process."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from plugins.audit.keyfile import content_of, made_once
from plugins.audit.pseudonyms import pseudonyms
from plugins.audit.signing import public_key, signing_key


def test_all_use_the_key_of_the_first_one(tmp_path: Path) -> None:
    file = tmp_path / "key"
    assert made_once(file, b"mine") == b"mine"
    assert made_once(file, b"of another process, a moment later") == b"mine"


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
