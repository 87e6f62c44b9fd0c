"""`doorkeeper users`: a credentials file, from its creation to the removal of its last user."""

import errno
import fcntl
import io
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from select import select

import pytest
from click.testing import CliRunner, Result

from proxy.auth.users import load, save
from proxy.auth.verifiers import fits
from proxy.cli import main

PATIENCE = 60.0  # seconds until a prompt that did not come has failed its test


def users(*arguments: object, typed: str | io.BytesIO = "") -> Result:
    return CliRunner().invoke(main, ["users", *map(str, arguments)], input=typed)


def test_users_come_and_go(tmp_path: Path) -> None:
    file = tmp_path / "users.yaml"
    assert users("add", file, "alice", typed="first\n").output == f"{file}: alice added\n"
    assert users("add", file, "alice", typed="second\n").output == f"{file}: alice has a new password\n"
    assert (
        users(
            "add",
            file,
            "bob",
            typed="third\n",
        ).exit_code
        == 0
    )
    assert users("list", file).output == "alice\nbob\n"
    assert fits("second", load(file)["alice"]["SCRAM-SHA-512"], "SCRAM-SHA-512")
    assert users("rm", file, "alice").exit_code == 0
    assert users("list", file).output == "bob\n"


def test_what_cannot_be_done_says_why(tmp_path: Path) -> None:
    file = tmp_path / "users.yaml"
    missing = users("list", file)
    assert (missing.exit_code, "no such file" in missing.stderr) == (1, True)
    assert users("add", file, "alice", typed="").exit_code == 1
    assert users("add", file, "a\nb", typed="x\n").exit_code == 2
    assert users("add", file, "alice", typed="a\0b\n").exit_code == 1
    assert not file.exists()
    users("add", file, "alice", typed="x\n")
    nobody = users("rm", file, "bob")
    assert (nobody.exit_code, "there is no user" in nobody.stderr) == (1, True)


def test_a_password_is_no_argument(tmp_path: Path) -> None:
    assert users("add", tmp_path / "users.yaml", "alice", "secret").exit_code == 2


@pytest.mark.parametrize(
    ("key", "code", "told"),
    [("\x03", 130, ""), ("\x04", 1, "an empty password is none; type one, or send one line to standard input")],
    ids=["Ctrl-C", "Ctrl-D"],
)
def test_a_prompt_for_a_password_may_be_left(tmp_path: Path, key: str, code: int, told: str) -> None:
    ours, theirs = os.openpty()
    file = tmp_path / "users.yaml"
    # A session without a terminal gets the first one that it opens, which then sends the signals of its keys.
    opening = ["sh", "-c", 'exec "$@" <"$0" >"$0" 2>"$0"', os.ttyname(theirs)]
    command = [*opening, sys.executable, "-m", "proxy", "users", "add", file, "alice"]
    said = b""
    with subprocess.Popen(command, start_new_session=True) as process, os.fdopen(ours, "r+b", buffering=0) as terminal:
        while b"Password of alice: " not in said:
            assert select([terminal], [], [], PATIENCE)[0], said
            said += terminal.read(1)
        terminal.write(key.encode())
        assert process.wait(PATIENCE) == code
        os.close(theirs)
        with suppress(OSError):  # nobody has the other end any more
            while piece := terminal.read(1 << 10):
                said += piece
    after = said.partition(b"Password of alice: ")[2].decode()
    assert after.replace("^C", "").split() == told.split()
    assert not file.exists()


@pytest.mark.parametrize("folder", ["none", "file"])
def test_a_folder_that_is_not_there_is_told_before_a_password_is_typed(tmp_path: Path, folder: str) -> None:
    (tmp_path / "file").touch()
    file = tmp_path / folder / "users.yaml"
    outcome = users("add", file, "alice", typed="")
    way_out = "make it, or check the path"
    assert outcome.output == f"{file}: there is no folder {tmp_path / folder}; {way_out}\n"
    assert outcome.exit_code == 1


def test_a_folder_that_cannot_be_written_to_is_said() -> None:
    outcome = users("add", "/proc/users.yaml", "alice", typed="x\n")
    assert (outcome.exit_code, "cannot be written" in outcome.stderr) == (1, True)


def test_a_full_disk_is_told_as_one_and_leaves_the_users_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "users.yaml"
    users("add", file, "alice", typed="x\n")
    before = file.read_text()

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    outcome = users("add", file, "bob", typed="x\n")
    assert outcome.stderr == f"{file}: cannot be written (No space left on device); make room on its disk\n"
    assert (outcome.exit_code, file.read_text()) == (1, before)


class Typing(io.BytesIO):
    """Somebody who types a password. Meanwhile something happens."""

    def __init__(self, typed: bytes, meanwhile: Callable[[], None]) -> None:
        super().__init__(typed)
        self._meanwhile = meanwhile

    def read1(self, size: int | None = -1) -> bytes:
        self._meanwhile()
        return super().read1(size)


def test_a_change_that_is_made_while_somebody_types_a_password_stays(tmp_path: Path) -> None:
    file = tmp_path / "users.yaml"
    users("add", file, "bob", typed="x\n")
    bob = load(file)["bob"]
    outcome = users("add", file, "alice", typed=Typing(b"y\n", lambda: save(file, {"carol": bob})))
    assert outcome.output == f"{file}: alice added\n"
    assert set(load(file)) == {"alice", "carol"}


@pytest.mark.parametrize("command", ["add", "rm"])
def test_a_file_that_another_program_changes_is_left_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr("proxy.text.locked.PATIENCE", 0.05)
    file = tmp_path / "users.yaml"
    users("add", file, "bob", typed="x\n")
    before = file.read_bytes()
    folder = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    outcome = users(command, file, "bob", typed="y\n")
    os.close(folder)
    assert outcome.stderr == f"{tmp_path} is locked by another program; find out which: fuser {tmp_path}\n"
    assert (outcome.exit_code, file.read_bytes()) == (1, before)
    assert users(command, file, "bob", typed="y\n").exit_code == 0


def test_a_name_of_a_file_moves_no_cursor(tmp_path: Path) -> None:
    file = tmp_path / "a\x07.yaml"
    assert "\x07" not in users("add", file, "bob", typed="x\n").output + users("rm", file, "bob").output
