"""The findings of `doorkeeper check` in a rules file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plugins.acl.examined import examined
from proxy.text.problems import Finding, Problem

ADMIN = "super_users: [User:admin]\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "acl.yaml"
    file.write_text(ADMIN)
    return file


def found(file: Path, managed: bool = False) -> list[Finding | Problem]:
    return list(examined(str(file), managed=managed))


def test_a_file_without_mistakes_is_fine(file: Path) -> None:
    assert found(file) == found(file, managed=True) == []


def test_every_mistake_of_the_file_is_told_at_its_place_and_warnings_pass(file: Path) -> None:
    file.write_text("acls:\n  - {allow: User:a, to: Raed, topics: t}\n  - {allow: a, to: Read, topics: t}\n")
    assert list(map(str, found(file, managed=True))) == [
        f'{file}:2:25: unknown operation "Raed"; did you mean "Read"?',
        f'{file}:3:13: "a" has no type; write "User:a"',
    ]
    file.write_text("acls:\n  - {allow: User:a, to: ClusterAction, topics: t}\n")
    (warning,) = found(file)
    assert str(warning).startswith(f"{file}:2:25: warning: no broker asks for ClusterAction of topics; ")


@pytest.mark.parametrize("managed", [False, True])
def test_a_file_that_is_not_there_is_told_where_it_is_named(file: Path, managed: bool) -> None:
    file.unlink()
    assert found(file, managed) == [Finding(("rules",), f"{file}: there is no such file; check the path")]


def test_a_folder_is_told_where_it_is_named(file: Path) -> None:
    fact = f'{file.parent}: this is a folder; did you mean "{file}"?'
    assert found(file.parent) == [Finding(("rules",), fact)]


def test_a_file_in_a_folder_that_cannot_be_written_is_no_store(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: not (mode & os.W_OK and path == file.parent))
    (finding,) = found(file, managed=True)
    assert finding[:1] == (("managed",),)
    assert finding.message.startswith(f"{file} cannot be written by this user: ")
    assert found(file) == []


@pytest.mark.parametrize(
    ("rules", "somebody"),
    [
        ("{allow: User:a, to: Alter, cluster: true}", True),
        ("{allow: User:a, to: [Describe, All], cluster: kafka-*}", True),
        ("{allow: User:a, to: Describe, cluster: true}", False),
        ("{allow: User:a, to: Alter, topics: '*'}", False),
        ("{deny: User:a, to: Alter, cluster: true}", False),
    ],
)
def test_rules_that_nobody_may_change_are_warned_of(file: Path, rules: str, somebody: bool) -> None:
    file.write_text(f"acls: [{rules}]\n")
    findings = [each for each in found(file, managed=True) if isinstance(each, Finding)]
    assert [(each.path, each.warning) for each in findings] == ([] if somebody else [(("managed",), True)])
    assert not [each for each in found(file) if isinstance(each, Finding)]
