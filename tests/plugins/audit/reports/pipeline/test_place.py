"""The place: which segments there are, on this machine and on a remote file system."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from plugins.audit.reports.pipeline.place import JournalPlace, PlaceError
from plugins.audit.segments import segments
from tests.plugins.audit.written import START, Wall, chain, write


@pytest.mark.parametrize("text", ["/a/b", "file:/a/b", "file:///a/b", "file://localhost/a/b", "/a/b/"])
def test_a_folder_of_this_machine_may_be_named_as_a_path_and_as_a_url(text: str) -> None:
    place = JournalPlace.of(text)
    assert (place.url, place.folder, str(place)) == ("file:/a/b", Path("/a/b"), "/a/b")


def test_any_other_url_is_elsewhere() -> None:
    place = JournalPlace.of("s3a://bucket/journal/")
    assert (place.url, place.folder, str(place)) == ("s3a://bucket/journal", None, "s3a://bucket/journal")


@pytest.mark.parametrize("is_here", [True, False])
def test_segments_are_found_by_their_names_and_sealed_by_their_seals(
    spark: SparkSession, tmp_path: Path, is_here: bool
) -> None:
    journal = tmp_path / "a [journal] of {March} *"
    for instance in ("aaaaaaaa", "bbbbbbbb"):
        writer = chain(journal, instance)
        write(writer, range(5))
        if instance == "aaaaaaaa":
            writer.end()
    sealed, unsealed = segments(journal)
    (sealed.parent / "notes.jsonl.zst").write_text("not a segment")
    (journal / "notes.txt").write_text("not a segment")
    if is_here:
        (journal / "date=2026-03-02").symlink_to(journal / "date=2026-03-01")
    found = JournalPlace(f"file:{journal}", journal if is_here else None).listing(spark)
    assert found.sealed == (sealed.relative_to(journal).as_posix(),)
    assert found.unsealed == (unsealed.relative_to(journal).as_posix(),)


@pytest.mark.parametrize("is_here", [True, False])
def test_of_some_segments_those_are_found_that_are_there_now(
    spark: SparkSession, tmp_path: Path, is_here: bool
) -> None:
    journal = tmp_path / "a [journal] of {March} *"
    wall = Wall()
    for instance, hour in (("aaaaaaaa", 0), ("bbbbbbbb", 0), ("cccccccc", 1), ("dddddddd", 2)):
        wall.now = START + hour * 3600
        chain(journal, instance, wall=wall).end()
    paths = [path.relative_to(journal).as_posix() for path in segments(journal)]
    place = JournalPlace(f"file:{journal}", journal if is_here else None)
    (journal / paths[1]).unlink()
    assert place.there(spark, paths[:3]) == [paths[0], paths[2]]
    assert place.there(spark, paths[1:2]) == place.there(spark, ["date=2001-01-01/hour=00/none"]) == []
    assert place.there(spark, []) == []


def test_a_folder_that_is_no_journal_is_told_with_a_way_out(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(PlaceError, match=re.escape(f"{tmp_path}: there is no segment of a journal; give the folder")):
        JournalPlace.of(str(tmp_path)).listing(spark)
    with pytest.raises(PlaceError, match="there is no such folder; give the one at"):
        JournalPlace.of(str(tmp_path / "nowhere")).listing(spark)


def test_a_url_that_spark_cannot_read_is_told_in_one_line(spark: SparkSession) -> None:
    with pytest.raises(PlaceError, match=r'^gopher://a/b: cannot be read \(No FileSystem for scheme "gopher"\)$'):
        JournalPlace.of("gopher://a/b").listing(spark)
