"""`doorkeeper users`: a credentials file, from its creation to the removal of its last user."""

from pathlib import Path

from click.testing import CliRunner, Result

from proxy.auth.users import load
from proxy.auth.verifiers import fits
from proxy.cli import main


def users(*arguments: object, typed: str = "") -> Result:
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
    assert users("add", file, "alice", typed="a\x07b\n").exit_code == 1
    assert not file.exists()
    users("add", file, "alice", typed="x\n")
    nobody = users("rm", file, "bob")
    assert (nobody.exit_code, "there is no user" in nobody.stderr) == (1, True)


def test_a_password_is_no_argument(tmp_path: Path) -> None:
    assert users("add", tmp_path / "users.yaml", "alice", "secret").exit_code == 2


def test_a_folder_that_cannot_be_written_to_is_said(tmp_path: Path) -> None:
    outcome = users("add", tmp_path / "none" / "users.yaml", "alice", typed="x\n")
    assert (outcome.exit_code, "cannot be written" in outcome.stderr) == (1, True)
