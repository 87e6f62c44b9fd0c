"""Standard streams that are closed, as a shell closes them, or full."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from proxy.auth.users import save
from proxy.auth.verifiers import verifiers

RULES = "acls: [{allow: User:alice, to: Read, topics: orders}]\n"
ASKED = ["explain", "acl.yaml", "--principal", "User:alice", "--operation", "Read", "--topic", "orders"]
EMPTY = [
    (["users", "add", "users.yaml", "alice"], "an empty password is none"),
    (["decode"], "there is nothing to decode"),
    (["decode", "--file", "-"], "there is nothing to decode"),
    (["faults", "add", "-"], "there is no fault"),
    (["acls", "import"], "nothing is listed"),
    (["explain", "acl.yaml", "--questions", "-"], "there is no question in it"),
]


def ended(folder: Path, streams: str, arguments: list[str], **environment: str) -> tuple[int, str]:
    """The exit code and standard error of a command with such streams, in a folder with a file of rules."""
    (folder / "acl.yaml").write_text(RULES)
    command = ["sh", "-c", f'exec "$@" {streams}', "sh", sys.executable, "-m", "proxy", *arguments]
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(command, cwd=folder, env=buffered | environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize(("arguments", "said"), EMPTY)
def test_a_closed_standard_input_is_empty(tmp_path: Path, arguments: list[str], said: str) -> None:
    code, told = ended(tmp_path, "<&-", arguments)
    assert said in told
    assert (code, len(told.splitlines())) == (1, 1)


@pytest.mark.parametrize("arguments", [["schema"], ["check", "--help"], ["demo", "--no-report"], ASKED])
@pytest.mark.parametrize(
    ("streams", "told"),
    [
        (">&-", "Bad file descriptor; check what was given\n"),
        (">/dev/full", "No space left on device; make room for the output\n"),
    ],
)
def test_a_result_that_cannot_be_written_is_told_in_one_line(
    tmp_path: Path, arguments: list[str], streams: str, told: str
) -> None:
    assert ended(tmp_path, streams, arguments) == (1, told)


@pytest.mark.parametrize("nowhere", ["2>&-", "2>/dev/full"])
def test_a_message_that_cannot_be_written_leaves_the_exit_code(tmp_path: Path, nowhere: str) -> None:
    assert ended(tmp_path, nowhere, ASKED) == (0, "")
    assert ended(tmp_path, nowhere, ["check", "nowhere.yaml"]) == (1, "")
    assert ended(tmp_path, nowhere, ["acls", "export", "nowhere.yaml"]) == (1, "")
    assert ended(tmp_path, f"<&- >&- {nowhere}", ASKED) == (1, "")


def test_characters_that_the_terminal_does_not_know_are_told_with_the_way_out(tmp_path: Path) -> None:
    save(tmp_path / "users.yaml", {"\u65e5": verifiers("x")})
    code, told = ended(tmp_path, "", ["users", "list", "users.yaml"], PYTHONIOENCODING="latin-1")
    assert told == "the output has characters that latin-1 has not; set the locale to UTF-8, as by LC_ALL=C.UTF-8\n"
    assert code == 1
