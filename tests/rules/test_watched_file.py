"""The rules of a file, kept while it changes."""

import os
from pathlib import Path

import pytest

from proxy.text.stamp import stamp
from rules import Client, Operation, ResourceType, RulesError, WatchedFile

RULE = "acls:\n  - {allow: User:a, to: Read, topics: %s}\n"


def written(file: Path, text: str) -> None:
    """As editors and deployments write: a new file in the place of the old."""
    fresh = file.with_suffix(".new")
    fresh.write_text(text)
    fresh.rename(file)


def may_read(kept: WatchedFile, topic: str) -> bool:
    return kept.snapshot.decide(Client("User:a"), Operation.READ, ResourceType.TOPIC, topic).allowed


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "acl.yaml"
    file.write_text(RULE % "t")
    return file


def test_a_file_that_did_not_change_is_not_read_again(file: Path) -> None:
    kept = WatchedFile(file, {})
    before = kept.snapshot
    assert kept.refresh() is None
    assert kept.snapshot is before


def test_a_changed_file_is_another_snapshot(file: Path) -> None:
    kept = WatchedFile(file, {})
    before = kept.snapshot
    written(file, RULE % "u")
    assert kept.refresh() == []
    assert (may_read(kept, "t"), may_read(kept, "u")) == (False, True)
    assert before.decide(Client("User:a"), Operation.READ, ResourceType.TOPIC, "t").allowed
    assert kept.refresh() is None


def test_what_is_wrong_is_told_by_the_next_refresh_whoever_looked_first(file: Path) -> None:
    kept = WatchedFile(file, {})
    written(file, "acls: [")
    assert may_read(kept, "t")
    assert kept.look() is kept.snapshot
    problems = kept.refresh()
    assert problems is not None
    assert len(problems) == 1
    assert kept.refresh() is None


def test_a_file_that_is_being_written_in_its_place_is_taken_when_it_is_whole(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = RULE % "t" + "  - {deny: User:a, to: Read, topics: t}\n"
    monkeypatch.setattr("proxy.text.stamp.sleep", lambda seconds: file.write_text(whole))
    kept = WatchedFile(file, {})
    file.write_text("acls: # the first half\n")
    kept.refresh()
    assert len(kept.snapshot.rules) == 2
    assert kept.refresh() is None


def test_what_a_file_says_is_known_while_it_is_the_same(file: Path) -> None:
    kept = WatchedFile(file, {})
    first = stamp(file)
    assert kept.said(first) is kept.snapshot
    written(file, RULE % "u")
    assert kept.said(stamp(file)) is None
    kept.refresh()
    assert kept.said(first) is None
    assert kept.said(stamp(file)) is kept.snapshot
    written(file, "acls: [")
    kept.refresh()
    assert kept.said(stamp(file)) is None


def test_a_bad_file_never_replaces_a_good_one_and_is_told_once(file: Path) -> None:
    kept = WatchedFile(file, {})
    written(file, "acls: [")
    problems = kept.refresh()
    assert problems is not None
    assert "quotes" in str(problems[0])
    assert kept.refresh() is None
    assert may_read(kept, "t")
    written(file, RULE % "u")
    assert kept.refresh() == []
    assert may_read(kept, "u")


def test_a_file_that_is_gone_changes_nothing_and_is_told_once(file: Path) -> None:
    kept = WatchedFile(file, {})
    file.unlink()
    problems = kept.refresh()
    assert problems is not None
    assert "there is no such file" in str(problems[0])
    assert kept.refresh() is None
    assert may_read(kept, "t")
    file.write_text(RULE % "u")
    assert kept.refresh() == []
    assert may_read(kept, "u")


def test_a_file_written_in_its_place_is_noticed_by_its_time(file: Path) -> None:
    kept = WatchedFile(file, {})
    file.write_text(RULE % "v")  # as long as before
    os.utime(file, ns=(1, 1))
    assert kept.refresh() == []
    assert may_read(kept, "v")


def test_a_file_that_is_bad_to_begin_with_is_an_error(file: Path) -> None:
    file.write_text("acls: [")
    with pytest.raises(RulesError, match="quotes"):
        WatchedFile(file, {})
