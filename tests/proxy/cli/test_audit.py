"""`doorkeeper audit`."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import zstandard
from click.testing import CliRunner, Result
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from plugins.audit.profiles import PROFILES
from plugins.audit.queue import QueuedEvent
from plugins.audit.redacted import redactor
from plugins.audit.redaction import RedactionRule
from plugins.audit.segments import segments
from plugins.audit.signing import fingerprint, key_text
from proxy.cli import main
from proxy.protocol.errors import ErrorCode
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


def test_after_a_change_of_the_key_both_are_given(journal: Path, key: Path, tmp_path: Path) -> None:
    after, later = Ed25519PrivateKey.generate(), tmp_path / "later.pub"
    later.write_bytes(after.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    writer = chain(journal, "later", key=after)
    write(writer, range(3))
    writer.end()
    assert audit("verify", journal, "--key", key).exit_code == 1
    result = audit("verify", journal, "--key", later, "--key", key)
    assert (result.exit_code, result.output.count("sealed with the key")) == (0, 2)


def test_a_tampered_one_is_not(journal: Path, key: Path) -> None:
    (path,) = segments(journal)
    path.write_bytes(path.read_bytes()[:-5])
    result = audit("verify", journal, "--key", key)
    place = path.relative_to(journal).as_posix()
    assert result.output.splitlines()[0] == f"{place}: event 22: made unreadable"
    assert result.exit_code == 1


def test_a_name_of_a_file_moves_no_cursor(journal: Path) -> None:
    (journal / "a\x1b[2Jb").touch()
    (journal / "\udcff").touch()
    assert audit("verify", journal).output.splitlines()[:2] == [
        "a\\x1b[2Jb: this file is not of the journal",
        "\\udcff: this file is not of the journal",
    ]


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


def test_an_interrupted_command_has_given_no_answer(journal: Path) -> None:
    command = [sys.executable, "-m", "proxy", "audit", "tail", "--follow", "-n", "1", journal]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as tail:
        assert tail.stdout is not None
        assert tail.stdout.readline().endswith("journal closed\n")
        tail.send_signal(signal.SIGINT)
        assert tail.communicate() == ("", "")
    assert tail.returncode == 130


@pytest.mark.parametrize("command", ["verify", "tail", "search"])
def test_another_folder_is_none(tmp_path: Path, command: str) -> None:
    result = audit(command, tmp_path / "there")
    assert result.output.startswith(f"{tmp_path / 'there'}: there is no such folder; give the one that stands at")
    assert result.exit_code == 1
    assert "this is no journal, there is no segment in it" in audit(command, tmp_path).output


@pytest.mark.parametrize("command", ["verify", "tail", "search", "export --profile ecs", "prune --before 2026-01-01"])
def test_a_folder_of_a_journal_that_cannot_be_read_is_named(
    journal: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    denied, scan = journal / "date=2026-03-01", os.scandir

    def refusing(folder: Path) -> Any:
        if Path(folder) == denied:  # root may read all folders
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
        return scan(folder)

    monkeypatch.setattr(os, "scandir", refusing)
    name, *options = command.split()
    result = audit(name, journal, *options)
    assert result.output == f"{denied}: cannot be read (Permission denied); check its permissions\n"
    assert result.exit_code == 1


def test_what_is_no_key_is_refused(journal: Path, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("mine")
    result = audit("verify", journal, "--key", tmp_path / "key")
    assert "no key in PEM without a passphrase; give the public one of the proxy's" in result.output
    assert result.exit_code == 1
    nowhere = audit("verify", journal, "--key", tmp_path / "none").output
    assert nowhere == f"{tmp_path / 'none'}: there is no such file; check the path\n"


def test_what_is_no_date_is_a_mistake_of_the_command(journal: Path) -> None:
    result = audit("search", journal, "--from", "March")
    assert '"March" is no time; write it as 2026-03-01' in result.output
    assert result.exit_code == 2


@pytest.mark.parametrize("command", ["verify", "prune --before 2026-03-01T09:00"])
def test_a_key_that_cannot_be_read_is_named(journal: Path, tmp_path: Path, command: str) -> None:
    (path := tmp_path / "keys").mkdir()
    name, *options = command.split()
    result = audit(name, journal, *options, "--key", path)
    assert result.output == f"{path}: this is a folder; name a file in it\n"
    assert result.exit_code == 1
    assert segments(journal)


def test_old_segments_are_pruned_with_the_key(journal: Path, tmp_path: Path) -> None:
    file = tmp_path / "journal.key"
    file.write_bytes(KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    result = audit("prune", journal, "--before", "2026-03-01T09:00")
    assert result.output.startswith("1 segments deleted, ")
    assert result.exit_code == 0
    assert not segments(journal)


@pytest.mark.parametrize("are_pruned", [True, False])
def test_a_journal_without_a_segment_is_verified_by_its_seals(
    journal: Path, tmp_path: Path, *, are_pruned: bool
) -> None:
    (path,) = segments(journal)
    if are_pruned:
        file = tmp_path / "journal.key"
        file.write_bytes(KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        audit("prune", journal, "--before", "2026-03-01T09:00")
    else:
        path.unlink()
    result = audit("verify", journal)
    deleted = f"{path.relative_to(journal)}: events 1 to 22: the segment was deleted\n"
    pruned = "1 older segments were pruned by whoever has the key; their seals are there\n"
    assert result.output.startswith(pruned if are_pruned else deleted)
    assert result.exit_code == (0 if are_pruned else 1)


def test_segments_that_another_key_sealed_are_told_with_that_key(journal: Path, tmp_path: Path) -> None:
    other = Ed25519PrivateKey.generate()
    file = tmp_path / "journal.key"
    file.write_bytes(other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    result = audit("prune", journal, "--before", "2026-03-01T09:00")
    (path,) = segments(journal)
    sealed = f"it was sealed with the key {fingerprint(key_text(KEY.public_key()))}; prune it with that one"
    assert result.output == f"0 segments deleted, 0 bytes; their seals stay\n1 segments stay, as {path}: {sealed}\n"
    assert result.exit_code == 1
    assert segments(journal)


def test_without_the_key_nothing_is_pruned(journal: Path) -> None:
    result = audit("prune", journal, "--before", "2026-04-01")
    assert (result.exit_code, "name the journal's private key with --key" in result.output) == (1, True)
    assert segments(journal)


@pytest.mark.parametrize(("profile", "field"), [("ecs", "@timestamp"), ("ocsf", "class_uid")])
def test_events_are_exported_in_the_names_of_another_tool(journal: Path, profile: str, field: str) -> None:
    result = audit("export", journal, "--profile", profile)
    assert len([json.loads(line)[field] for line in result.output.splitlines()]) == 22
    assert audit("export", journal, "--profile", "xyz").exit_code == 2


@pytest.mark.parametrize("command", ["tail", "search", "export --profile ecs"])
def test_what_is_no_file_is_no_segment(journal: Path, command: str) -> None:
    (path,) = segments(journal)
    path.unlink()
    path.mkdir()
    name, *options = command.split()
    result = audit(name, journal, *options)
    way_out = "give the folder with date=... in it"
    assert result.output == f"{journal}: this is no journal, there is no segment in it; {way_out}\n"
    assert result.exit_code == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--kind requests", 'there is no "requests"; did you mean "request"?'),
        ("--api Produse", 'there is no "Produse"; did you mean "Produce"?'),
        ("--error TOPIC_AUTHORISATION_FAILED", 'did you mean "TOPIC_AUTHORIZATION_FAILED"?'),
        ("--error NONE", 'there is no "NONE"; '),
        ("--error UNKNOWN_X", 'there is no "UNKNOWN_X"; '),
        ("--principal alice", '"alice" has no type; write "User:alice"'),
        ("--resource or*rs", '"or*rs" is no name; write one, or the beginning of names with a `*` behind it'),
        ("--client ", '"" is no name'),
        ("--from 0001-01-01", "0001-01-01"),
        ("--from 2026-03-02 --to 2026-03-01", "--from 2026-03-02T00:00:00Z is not before --to 2026-03-01T00:00:00Z"),
    ],
)
def test_a_search_for_what_cannot_be_is_a_mistake_of_the_command(journal: Path, options: str, said: str) -> None:
    result = audit("search", journal, *options.split(" "))
    assert said in result.output
    assert result.exit_code == 2


@pytest.mark.parametrize(
    "command",
    [("search",), ("search", "--resource", "orders-1"), ("tail",), *(("export", "--profile", one) for one in PROFILES)],
)
@pytest.mark.parametrize("field", [b'"resources":"orders"', b'"errors":5', b'"api":null,"broker_us":7', b'"time":"z"'])
def test_a_line_that_somebody_put_into_a_segment_ends_no_command(
    journal: Path, command: tuple[str, ...], field: bytes
) -> None:
    (path,) = segments(journal)
    stamp = b'"schema":3,"time":"2026-03-01T08:00:00Z","instance":"3f9c2a71","worker":0,"sequence":1'
    path.write_bytes(path.read_bytes() + zstandard.compress(b'{"kind":"request",' + stamp + b"," + field + b"}\n"))
    assert audit(command[0], journal, *command[1:]).exit_code == 0


def test_an_error_that_is_newer_than_the_proxy_is_found_by_the_name_that_the_journal_gives_it(tmp_path: Path) -> None:
    writer = chain(tmp_path / "journal")
    writer.add(QueuedEvent("request", 1772352000.0, None, {"api": "Fetch", "errors": [ErrorCode(12345).name]}))
    writer.end()
    assert audit("search", tmp_path / "journal", "--error", "UNKNOWN_12345").output.count("Fetch") == 1
    assert audit("search", tmp_path / "journal", "--error", "UNKNOWN_MINUS_7").exit_code == 1


def test_a_search_takes_the_beginnings_of_names(journal: Path) -> None:
    result = audit("search", journal, "--api", "Prod*", "--kind", "req*", "--resource", "orders-3*", "--json")
    assert len(result.output.splitlines()) == 3


def test_more_events_than_can_be_held_are_not_shown(journal: Path) -> None:
    assert audit("tail", journal, "-n", 10**30).exit_code == 2


def test_a_file_is_no_journal(key: Path) -> None:
    assert audit("verify", key).output == (
        f"{key}: this is a file; give the folder that stands at plugins: audit: journal\n"
    )


def test_hashed_names_are_found_with_their_key(journal: Path, tmp_path: Path) -> None:
    hashing = RedactionRule.model_validate({"fields": "topic", "how": "hash"})
    writer = chain(tmp_path / "hashed", redactor=redactor([hashing], tmp_path / "secret"))
    write(writer, range(20))
    writer.end()
    assert audit("search", tmp_path / "hashed", "--resource", "orders-3").exit_code == 1
    found = audit("search", tmp_path / "hashed", "--resource", "orders-3", "--pseudonyms", tmp_path / "secret")
    assert (len(found.stdout.splitlines()), found.stderr) == (3, "")
    (tmp_path / "other").write_text("x" * 32)
    missed = audit("search", tmp_path / "hashed", "--resource", "orders-3", "--pseudonyms", tmp_path / "other")
    assert (missed.exit_code, missed.stdout) == (1, "")
    assert "were not found: they are hashed with another key" in missed.stderr
    (tmp_path / "short").write_text("x")
    assert "too short for pseudonyms" in audit("search", journal, "--pseudonyms", tmp_path / "short").output
    assert "there is no such file" in audit("search", journal, "--pseudonyms", tmp_path / "none").output


def test_events_as_json_do_not_move_the_cursor_and_are_whole(tmp_path: Path) -> None:
    name = "x\x1b[2J\x7f\x9b"
    writer = chain(tmp_path)
    writer.add(QueuedEvent("connection_opened", 0.0, None, {"client_host": "::1", "client_id": name}))
    writer.end()
    for arguments in (["tail", tmp_path, "--json"], ["search", tmp_path, "--json"]):
        lines = audit(*arguments).stdout.split("\n")
        assert all(line.isprintable() for line in lines)
        assert name in [json.loads(line).get("client_id") for line in lines if line]
    for profile in ("ecs", "ocsf"):
        lines = audit("export", tmp_path, "--profile", profile).stdout.split("\n")
        assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize("command", ["search", "tail", "export --profile ecs"])
def test_a_full_disk_is_not_told_of_a_file_that_was_read(journal: Path, command: str) -> None:
    name, *options = command.split()
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "proxy", "audit", name, journal, *options],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.stderr == "No space left on device; make room for the output\n"
    assert done.returncode == 1


def test_a_disk_too_full_to_prune_is_not_told_of_a_file_without_name(
    journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    key = tmp_path / "journal.key"
    key.write_bytes(KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    monkeypatch.setattr(os, "fsync", full)
    result = audit("prune", journal, "--before", "2026-03-01T09:00")
    assert result.output == "No space left on device; make room for the output\n"
    assert result.exit_code == 1
