"""Pseudonyms: equal for the same name and key, and different otherwise."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from plugins.audit.keyfile import KeyFileError
from plugins.audit.pseudonyms import Pseudonyms, pseudonyms

KEY = bytes(range(32))


def test_they_are_the_hmac_that_anybody_with_the_key_can_make() -> None:
    """printf 'topic\\0orders' | openssl dgst -sha256 -mac HMAC -macopt hexkey:000102...1f"""
    assert Pseudonyms(KEY).of("topic", "orders") == "hmac-1c62322b48e2cca34e5c33749a3928c4"


def test_a_name_has_one_by_its_kind_and_key() -> None:
    one, other = Pseudonyms(KEY), Pseudonyms(KEY[::-1])
    found = {one.of("topic", "a"), one.of("group", "a"), one.of("topic", "b"), other.of("topic", "a")}
    assert len(found) == 4
    assert one.of("topic", "a") in found
    assert one.id != other.id
    assert one.of("topic", "\ud800")


def test_a_key_is_made_once_and_read_again(tmp_path: Path) -> None:
    file = tmp_path / "journal.pseudonyms"
    made = pseudonyms(file, make=True)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert pseudonyms(file).id == made.id


def test_a_file_that_is_no_key_is_refused_with_a_reason(tmp_path: Path) -> None:
    (tmp_path / "short").write_bytes(b"hunter2\n")
    with pytest.raises(KeyFileError, match=r"short: a key of 7 bytes is too short.*openssl rand -hex 32"):
        pseudonyms(tmp_path / "short", make=True)
    with pytest.raises(FileNotFoundError):
        pseudonyms(tmp_path / "none")
