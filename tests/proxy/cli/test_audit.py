"""`doorkeeper audit`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from plugins.audit.queue import QueuedEvent
from plugins.audit.segments import segments
from proxy.cli import main
from tests.plugins.audit.written import KEY, chain, write


def audit(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["audit", *map(str, arguments)])


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    folder = tmp_path / "journal"
    writer = chain(folder)
    write(writer, range(20))
    writer.end()
    return folder


@pytest.fixture
def key(tmp_path: Path) -> Path:
    file = tmp_path / "journal.pub"
    file.write_bytes(KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return file


def test_an_intact_journal_is_said_to_be_one(journal: Path, key: Path) -> None:
    result = audit("verify", journal, "--key", key)
    assert result.output == (
        "22 events in 1 sealed segments are as they were written\n"
        "sealed with the key SHA256:Vkdap1RjR0wChd9dvyvKtz2mUTWIOem3dIGy6rEHcIw\n"
    )
    assert result.exit_code == 0
    assert "give the proxy's as --key, since a forger has one too" in audit("verify", journal).output


def test_a_tampered_one_is_not(journal: Path, key: Path) -> None:
    (path,) = segments(journal)
    path.write_bytes(path.read_bytes()[:-5])
    result = audit("verify", journal, "--key", key)
    place = path.relative_to(journal).as_posix()
    assert result.output.splitlines()[0] == f"{place}: event 22: made unreadable"
    assert result.exit_code == 1


def test_events_are_searched(journal: Path) -> None:
    result = audit("search", journal, "--resource", "orders-3", "--json", "--from", "2026-03-01", "--to", "2026-03-02")
    assert [json.loads(line)["sequence"] for line in result.output.splitlines()] == [5, 12, 19]
    assert result.exit_code == 0
    assert audit("search", journal, "--api", "Fetch").exit_code == 1


def test_the_newest_are_shown(journal: Path) -> None:
    lines = audit("tail", journal, "-n", 2).output.splitlines()
    assert [line.split("  ")[2] for line in lines] == ["Produce v9", "journal closed"]


def test_what_clients_call_themselves_does_not_move_the_cursor(tmp_path: Path) -> None:
    writer = chain(tmp_path)
    writer.add(QueuedEvent("connection_opened", 0.0, None, {"client_host": "::1", "client_id": "x\x1b[2J"}))
    writer.end()
    assert "\\x1b[2J" in audit("tail", tmp_path).output
    assert "\\u001b[2J" in audit("tail", tmp_path, "--json").output


@pytest.mark.parametrize("command", ["verify", "tail", "search"])
def test_another_folder_is_none(tmp_path: Path, command: str) -> None:
    result = audit(command, tmp_path / "there")
    assert result.output.startswith(f"{tmp_path / 'there'}: there is no such folder; give the one that stands at")
    assert result.exit_code == 1
    assert "this is no journal, there is no segment in it" in audit(command, tmp_path).output


def test_what_is_no_key_is_refused(journal: Path, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("mine")
    result = audit("verify", journal, "--key", tmp_path / "key")
    assert "no private key in PEM" in result.output
    assert result.exit_code == 1
    assert "cannot be read (No such file" in audit("verify", journal, "--key", tmp_path / "none").output


def test_what_is_no_date_is_a_mistake_of_the_command(journal: Path) -> None:
    result = audit("search", journal, "--from", "March")
    assert "'March' does not match the formats" in result.output
    assert result.exit_code == 2
