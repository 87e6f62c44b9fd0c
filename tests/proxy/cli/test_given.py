"""A file that is given and cannot be read is one line with its name and a way out, in every command."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from proxy.cli import main
from tests.plugins.audit.written import chain

COMMANDS = [
    "acls import FILE",
    "explain rules.yaml --questions FILE",
    "decode --file FILE",
    "faults list --token-file FILE",
    "faults run leader-flap --token-file FILE",
    "faults replay FILE --rules rules.yaml",
    "faults replay ledger --rules FILE",
    "audit search journal --pseudonyms FILE",
    "audit verify journal --key FILE",
    "audit prune journal --before 2026-01-01 --key FILE",
    "report journal --out page --key FILE",
    "report journal --out page --rules FILE",
    "report journal --out page --tags FILE",
]


@pytest.fixture(autouse=True)
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that can be read, where the commands run."""
    monkeypatch.chdir(tmp_path)
    Path("rules.yaml").write_text("acls: []\n")
    Path("ledger").touch()
    chain(tmp_path / "journal").end()


def ended(command: str, file: str) -> Result:
    result = CliRunner().invoke(main, command.replace("FILE", file).split())
    assert result.exit_code == (2 if "faults run" in command else 1)
    return result


@pytest.mark.parametrize("command", [one for one in COMMANDS if "prune" not in one])
def test_a_file_that_is_not_there_is_one_line(command: str) -> None:
    assert ended(command, "nothing").output == "nothing: there is no such file; check the path\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_folder_in_place_of_a_file_is_one_line(command: str) -> None:
    Path("folder").mkdir()
    (line,) = ended(command, "folder").output.splitlines()
    assert line.startswith("folder: this is a folder; ")


def without_the_right_to_read(monkeypatch: pytest.MonkeyPatch, file: str) -> None:
    """Have the system refuse to open it. To root, it would refuse nothing."""

    def refusing(opens: Callable[..., Any]) -> Callable[..., Any]:
        def opened(path: Any, *said: Any, **more: Any) -> Any:
            if not isinstance(path, int) and os.fspath(path) == file:
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
            return opens(path, *said, **more)

        return opened

    monkeypatch.setattr(os, "access", lambda path, _mode: os.fspath(path) != file)
    for module, name in ((os, "open"), (io, "open"), ("builtins", "open")):
        target = __import__(module) if isinstance(module, str) else module
        monkeypatch.setattr(target, name, refusing(getattr(target, name)))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_without_the_right_to_read_it_is_one_line(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("mine").touch()
    without_the_right_to_read(monkeypatch, "mine")
    assert ended(command, "mine").output == "mine: cannot be read (Permission denied); check its permissions\n"


@pytest.mark.parametrize("command", [*COMMANDS[:2], *(one for one in COMMANDS if "token-file" in one)])
def test_a_file_that_is_not_utf_8_is_named(command: str) -> None:
    Path("binary").write_bytes(b"\xff")
    (line,) = ended(command, "binary").output.splitlines()
    assert line == "binary: the input is not UTF-8 (invalid start byte at byte 0); give text in UTF-8"


def test_an_empty_name_is_told_as_one() -> None:
    assert ended("decode --file=FILE", "").output == '"": there is no such file; check the path\n'


def test_a_name_moves_no_cursor() -> None:
    assert ended("decode -f FILE", "a\x1b[2J").output == "a\\x1b[2J: there is no such file; check the path\n"


def test_standard_input_is_a_file() -> None:
    result = CliRunner().invoke(main, ["acls", "import", "-"], input="")
    assert result.output.startswith("<stdin>: nothing is listed; ")
