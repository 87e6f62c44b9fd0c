"""The credentials file: what is written can be read, and messages contain no secrets."""

import os
import stat
from pathlib import Path

import pytest

from proxy.auth.users import load, save
from proxy.auth.verifiers import fits, verifiers
from proxy.text.problems import BadFileError

ALICE = verifiers("alice-secret")


def written(folder: Path, text: str, mode: int = 0o600) -> Path:
    file = folder / "users.yaml"
    file.write_text(text)
    file.chmod(mode)
    return file


def refused(file: Path) -> list[str]:
    with pytest.raises(BadFileError) as raised:
        load(file)
    return [str(problem) for problem in raised.value.problems]


@pytest.mark.parametrize("name", ["alice", "o'brien", "zoë", "a: b", "#x", "${HOME}", "true", "a b"])
def test_what_is_written_is_read(tmp_path: Path, name: str) -> None:
    file = tmp_path / "users.yaml"
    save(file, {name: ALICE})
    assert load(file) == {name: ALICE}
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    assert fits("alice-secret", load(file)[name]["SCRAM-SHA-256"], "SCRAM-SHA-256")


def test_a_file_without_users_is_right(tmp_path: Path) -> None:
    save(tmp_path / "users.yaml", {})
    assert load(tmp_path / "users.yaml") == {}


def test_no_password_is_in_the_file(tmp_path: Path) -> None:
    save(tmp_path / "users.yaml", {"alice": ALICE})
    assert "alice-secret" not in (tmp_path / "users.yaml").read_text()


def test_a_file_that_cannot_be_written_leaves_the_one_there_is(tmp_path: Path) -> None:
    file = tmp_path / "users.yaml"
    save(file, {"alice": ALICE})
    with pytest.raises(AttributeError):
        save(file, {"alice": ALICE, "bob": None})  # type: ignore[dict-item]
    assert load(file) == {"alice": ALICE}
    assert os.listdir(tmp_path) == ["users.yaml"]


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o602])
def test_a_file_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    file = written(tmp_path, "version: 1\nusers: {}\n", mode)
    assert refused(file) == [f"{file}: others may read this file; run: chmod 600 {file}"]


@pytest.mark.parametrize("user", ["hunter2", "{password: hunter2}", "[hunter2]"])
def test_a_plain_password_is_refused_without_saying_it(tmp_path: Path, user: str) -> None:
    file = written(tmp_path, f"version: 1\nusers:\n  alice: {user}\n")
    way_out = 'remove it, and run "doorkeeper users add FILE NAME"'
    assert refused(file) == [f"{file}:3:10: a password does not belong here; {way_out}"]


def test_everything_wrong_is_said_at_once(tmp_path: Path) -> None:
    text = """\
version: 2
users:
  alice: {}
  bob: {SCRAM-SHA-256: {iterations: 1, salt: hunter2, stored_key: "", server_key: 7}, SCRAM-SHA-1: {}}
"""
    said = "\n".join(refused(written(tmp_path, text)))
    assert "hunter2" not in said
    for part in (":1:10: unknown version", ":3:10: there is nothing", "the least is 4096", "no salt or key"):
        assert part in said


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    assert "no such file" in refused(tmp_path / "none.yaml")[0]
