"""The command line interface as a user sees it."""

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from proxy.cli import COMMANDS, main


def test_without_arguments_it_teaches() -> None:
    result = CliRunner().invoke(main, ["--help"])
    assert result.exit_code == 0
    for name in COMMANDS:
        assert f"\n  {name} " in result.output
    assert "doorkeeper demo" in result.output


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_teaches(name: str) -> None:
    result = CliRunner().invoke(main, [name, "--help"])
    assert result.exit_code == 0
    assert "Usage:" in result.output


def test_a_misspelt_command_is_a_usage_error_that_names_the_nearest() -> None:
    result = CliRunner().invoke(main, ["rum"])
    assert result.exit_code == 2
    assert 'No such command "rum"; did you mean "run"?' in result.output


@pytest.mark.parametrize(
    "command",
    [
        "check FILE",
        "run FILE",
        "users list FILE",
        "acls export FILE",
        "acls import --config FILE --cluster main",
        "explain FILE --principal User:a --operation Read --topic t",
    ],
)
def test_a_file_without_the_right_to_read_it_is_one_line_with_a_way_out(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file.yaml"
    file.touch()
    denied = PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    opened = os.open

    def open_others(path: Any, *said: Any, **more: Any) -> int:
        if path == str(file):
            raise denied
        return opened(path, *said, **more)

    monkeypatch.setattr(os, "access", lambda path, _mode: path != str(file))  # root may read all files
    monkeypatch.setattr(os, "open", open_others)
    result = CliRunner().invoke(main, command.replace("FILE", str(file)).split())
    assert result.stderr + result.stdout == f"{file}: cannot be read (Permission denied); check its permissions\n"
    assert result.exit_code == 1


def test_the_module_is_the_command() -> None:
    result = subprocess.run([sys.executable, "-m", "proxy", "--help"], capture_output=True, text=True, check=True)
    assert result.stdout.startswith("Usage: doorkeeper ")


def test_help_does_not_import_what_it_does_not_need() -> None:
    script = "import sys, proxy.cli; sys.exit(bool({'trio', 'pydantic', 'structlog'} & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["run", "--help"], ["acls", "import", "--help"]])
def test_help_that_cannot_be_printed_is_one_line(arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "proxy", *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.stderr == "No space left on device; make room for the output\n"
    assert done.returncode == 1


ADMIN = ["faults", "list", "--url"]


@pytest.mark.parametrize(
    ("arguments", "given", "said"),
    [
        (["acls", "import", "-"], b"\xff\xfe", "the input is not UTF-8"),
        (["explain", "{rules}", "--questions", "-"], b"\xff\xfe", "the input is not UTF-8"),
        (["explain", "{rules}", "--questions", "-"], b"[" * 100_000, "not JSON"),
        (["explain", "{rules}", "--questions", "-"], b'{"principal": "User:a", "principal": "User:b"}', "twice"),
        (
            [
                "explain",
                "{rules}",
                *["--principal", "User:a", "--operation", "Read", "--topic", "t", "--at", "0001-01-01"],
            ],
            b"",
            "--at",
        ),
        (["faults", "list", "--token-file", "-"], b"\xff", "the input is not UTF-8"),
        ([*ADMIN, "http://a b"], b"", "http://a b"),
        ([*ADMIN, "http://a..b"], b"", "http://a..b"),
        ([*ADMIN, "http://" + "a" * 300], b"", "aaa"),
        (["decode"], b'{"a":' * 50_000, "not JSON"),
        (["decode"], '{"api": 3, "version": 1, "base64": "\u00e9"}'.encode(), '"base64" is none'),
        (["decode", "--response", "Metadata:" + "9" * 5_000, "00"], b"", "is not API:VERSION"),
        (["users", "add", "{loop}", "alice"], b"secret", "{loop}"),
        (["audit", "verify", "x" * 300], b"", "xxx"),
        (["acls", "import", "/dev/zero"], b"", "'/dev/zero': File too large"),
        (["decode", "--file", "/dev/zero"], b"", "'/dev/zero': File too large"),
        (["explain", "{rules}", "--questions", "/dev/zero"], b"", "'/dev/zero': File too large"),
        (["faults", "replay", "--rules", "{rules}", "/dev/zero"], b"", "/dev/zero: cannot be read (File too large"),
        (["users", "add", "{users}", "alice"], b"p" * 1_025, "more than 1,024 bytes"),
    ],
)
def test_an_input_that_cannot_be_read_is_one_line(
    tmp_path: Path, arguments: list[str], given: bytes, said: str
) -> None:
    rules, loop = tmp_path / "acl.yaml", tmp_path / "loop"
    rules.write_text("acls: [{allow: User:alice, to: Read, topics: orders}]\n")
    loop.symlink_to(loop)
    places = {"rules": rules, "loop": loop, "users": tmp_path / "users.yaml"}
    command = [sys.executable, "-m", "proxy", *(one.format(**places) for one in arguments)]
    done = subprocess.run(command, input=given, capture_output=True, check=False)
    told = done.stderr.decode()
    assert done.returncode in (1, 2)
    assert said.format(**places) in told
    assert "Traceback" not in told
    assert len(told.splitlines()) <= 4, told
