"""The mirror: verification has the same result for a remote journal as for a local one."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from plugins.audit.pruning import prune
from plugins.audit.reports.pipeline.mirror import JournalMirror, journal_files
from plugins.audit.reports.pipeline.place import JournalPlace
from plugins.audit.segments import beside, segments
from plugins.audit.verify import Verified, verify
from tests.plugins.audit.test_pruning import NOON
from tests.plugins.audit.written import KEY, chain, write


def verified(spark: SparkSession, place: JournalPlace) -> Verified:
    with journal_files(spark, place) as files:
        return verify(files.folder, fetched=files.fetched)


def test_verification_says_of_a_journal_elsewhere_what_it_says_of_it_here(spark: SparkSession, tmp_path: Path) -> None:
    journal = tmp_path / "a [journal] of {March} *"
    for number in range(6):
        writer = chain(journal, f"aaaaaaa{number}")
        write(writer, range(50))
        writer.end()
    cut, deleted, unsealed, resealed, moved, _ = segments(journal)
    cut.write_bytes(cut.read_bytes()[:-20])
    deleted.unlink()
    beside(unsealed, "seal").unlink()
    beside(resealed, "seal").write_bytes(beside(resealed, "seal").read_bytes().replace(b'"first": 1', b'"first": 2'))
    (journal / "elsewhere").mkdir()
    moved.rename(journal / "elsewhere" / moved.name)
    (journal / "notes.txt").touch()
    here = verified(spark, JournalPlace.of(str(journal)))
    assert {remark.place for remark in here.remarks} >= {Path("notes.txt"), Path("elsewhere", moved.name)}
    assert len(here.remarks) >= 6
    assert verified(spark, JournalPlace(f"file:{journal}", None)) == here


def test_a_segment_that_goes_while_a_journal_elsewhere_is_verified_is_pruned_or_deleted(
    spark: SparkSession, tmp_path: Path
) -> None:
    journal = tmp_path / "journal"
    for number in range(3):
        chain(journal, f"aaaaaaa{number}").end()
    deleted, pruned, _ = (path.relative_to(journal) for path in segments(journal))
    with journal_files(spark, JournalPlace(f"file:{journal}", None)) as files:
        (journal / deleted).unlink()
        (one,) = (old for old in prune(journal, NOON, KEY, NOON) if old.path == journal / pruned)
        assert not one.stays
        found = verify(files.folder, fetched=files.fetched)
        with pytest.raises(FileNotFoundError):
            files.sha256(deleted)
    assert [(remark.place, remark.what) for remark in found.remarks] == [(deleted, "the segment was deleted")]
    assert found.pruned == 2


def test_a_mirror_has_the_bytes_of_one_segment_at_a_time(spark: SparkSession, tmp_path: Path) -> None:
    journal, folder = tmp_path / "journal", tmp_path / "mirror"
    for number in range(2):
        chain(journal, f"aaaaaaa{number}").end()
    folder.mkdir()
    mirror = JournalMirror(spark, JournalPlace(f"file:{journal}", None), folder)
    first, second = (path.relative_to(journal) for path in segments(journal))
    with mirror.fetched(first):
        assert (folder / first).read_bytes() == (journal / first).read_bytes()
        assert not (folder / second).stat().st_size
    assert not (folder / first).stat().st_size
