"""Options: the places of files, and mistakes in the option of levels."""

from __future__ import annotations

from pathlib import Path

import pytest

from plugins.audit import Audit
from plugins.audit.options import AuditOptions
from plugins.audit.signing import signing_key
from proxy.plugin import Finding, PluginError
from proxy.testing import build


def test_the_keys_lie_beside_the_journal_unless_a_path_says_otherwise() -> None:
    beside = AuditOptions(journal="/var/lib/journal")
    assert beside.key_path == Path("/var/lib/journal.key")
    assert beside.pseudonyms_path == Path("/var/lib/journal.pseudonyms")
    elsewhere = AuditOptions(journal="/var/lib/journal", key="/etc/signing", pseudonyms="/etc/names")
    assert (elsewhere.key_path, elsewhere.pseudonyms_path) == (Path("/etc/signing"), Path("/etc/names"))


def test_a_bad_file_of_levels_is_told_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "audit.yaml"
    file.write_text("levels:\n  - {match: {topc: x}, level: sumary}\n  - {level: summary, window: 10ms}\n")
    options = AuditOptions(journal=str(tmp_path / "journal"), levels=str(file))
    told = [str(problem) for problem in Audit.examine(options)]
    assert len(told) == 3
    assert told[1].startswith(f"{file}:2:")
    assert "summary" in told[1]
    assert told[2].startswith(f"{file}:3:")


def test_a_file_of_levels_that_is_not_there_is_told_at_the_option(tmp_path: Path) -> None:
    options = AuditOptions(journal=str(tmp_path / "journal"), levels=str(tmp_path / "none.yaml"))
    (problem,) = options.problems()
    assert isinstance(problem, Finding)
    assert problem.path == ("levels",)
    assert "none.yaml" in problem.message


@pytest.mark.parametrize("folder", ["/", "."])
def test_a_journal_that_no_file_can_stand_beside_is_told_at_the_option(folder: str) -> None:
    (problem,) = AuditOptions(journal=folder).problems()
    assert problem == Finding(("journal",), f'the journal cannot be "{folder}"; name a folder below it')


@pytest.mark.parametrize("pseudonyms", ["journal.key", "folder/../journal.key", "link", "hard"])
@pytest.mark.parametrize("is_there", [True, False])
def test_the_key_that_signs_the_journal_is_no_key_of_pseudonyms(
    tmp_path: Path, pseudonyms: str, is_there: bool
) -> None:
    key = tmp_path / "journal.key"
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(key)
    if is_there or pseudonyms == "hard":
        signing_key(key)
        (tmp_path / "hard").hardlink_to(key)
    options = build(Audit, journal=str(tmp_path / "journal"), pseudonyms=str(tmp_path / pseudonyms), redact=HASHED)
    (problem,) = Audit.examine(options.options)
    assert isinstance(problem, Finding)
    assert problem.path == ("pseudonyms",)
    assert "is the key that signs the journal" in problem.message


HASHED = [{"fields": "principal", "how": "hash"}]
ELSEWHERE = "name another place for the journal"


@pytest.mark.parametrize(
    ("given", "option", "said"),
    [
        ({"journal": "file"}, "journal", ELSEWHERE),
        ({"journal": "file/below"}, "journal", ELSEWHERE),
        ({"journal": "link"}, "journal", ELSEWHERE),
        ({"key": "file"}, "key", "no private key in PEM"),
        ({"key": "folder"}, "key", "Is a directory"),
        ({"key": "none/key"}, "key", "there is no folder"),
        ({"pseudonyms": "file"}, "pseudonyms", "too short for pseudonyms"),
        ({"pseudonyms": "none/key"}, "pseudonyms", "there is no folder"),
    ],
)
def test_a_check_refuses_the_files_with_which_a_journal_would_not_begin(
    tmp_path: Path, given: dict[str, str], option: str, said: str
) -> None:
    (tmp_path / "file").write_text("secret")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("nowhere")
    files = {name: str(tmp_path / file) for name, file in {"journal": "journal", **given}.items()}
    plugin = build(Audit, **files, redact=HASHED)
    (problem,) = Audit.examine(plugin.options)
    assert isinstance(problem, Finding)
    assert problem.path == (option,)
    assert said in problem.message
    assert "secret" not in problem.message
    with pytest.raises(PluginError):
        plugin.start()


@pytest.mark.parametrize("key", ["key", "new/journal.key", "new/journal/key"])
def test_a_check_makes_no_key_where_one_will_be_made(tmp_path: Path, key: str) -> None:
    file = tmp_path / key
    plugin = build(Audit, journal=str(tmp_path / "new/journal"), key=str(file), redact=HASHED)
    assert not list(Audit.examine(plugin.options))
    assert not list(tmp_path.iterdir())
    plugin.start()
    plugin.stop()
    assert not list(Audit.examine(plugin.options))
    assert file.exists()
