"""The inventory: segments and seals by their names, and a remark for each file that does not belong there."""

from __future__ import annotations

import os
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from plugins.audit.inventory import JournalInventory
from plugins.audit.segments import beside, segments
from tests.plugins.audit.written import KEY, chain


def written(journal: Path, *instances: str) -> list[Path]:
    for instance in instances:
        chain(journal, instance).end()
    return segments(journal)


def test_segments_and_seals_are_found_by_their_names_and_what_is_being_made_is_left_out(tmp_path: Path) -> None:
    first, second = written(tmp_path, "aaaaaaaa", "bbbbbbbb")
    beside(second, "seal").unlink()
    first.with_name("_any.tmp").touch()
    found = JournalInventory(tmp_path, [KEY.public_key()])
    assert [tmp_path / place for place in found.files.values()] == [first, second]
    assert [tmp_path / name.path for name in found.seals] == [first]
    assert list(found.chains) == ["aaaaaaaa-0", "bbbbbbbb-0"]
    assert (found.bad, found.remarks) == (set(), [])


def test_what_does_not_belong_there_is_remarked(tmp_path: Path) -> None:
    (segment,) = written(tmp_path, "aaaaaaaa")
    (tmp_path / "notes.txt").touch()
    (tmp_path / "link").symlink_to(segment)
    os.mkfifo(tmp_path / "pipe")
    segment.rename(tmp_path / segment.name)
    found = JournalInventory(tmp_path, [])
    assert {remark.place.name: remark.what.partition(";")[0] for remark in found.remarks} == {
        "notes.txt": "this file is not of the journal",
        "link": "a link, a pipe or a device stands here",
        "pipe": "a link, a pipe or a device stands here",
        segment.name: f"this file belongs into {segment.parent.relative_to(tmp_path)}",
    }


def test_a_seal_of_another_segment_or_another_key_proves_nothing(tmp_path: Path) -> None:
    first, second = written(tmp_path, "aaaaaaaa", "bbbbbbbb")
    beside(second, "seal").write_bytes(beside(first, "seal").read_bytes())
    found = JournalInventory(tmp_path, [])
    assert [tmp_path / name.path for name in found.bad] == [second]
    assert "it is the seal of" in found.remarks[0].what
    assert len(JournalInventory(tmp_path, [Ed25519PrivateKey.generate().public_key()]).bad) == 2
