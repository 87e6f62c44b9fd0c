"""The store: every event of a journal; each segment is loaded once."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from plugins.audit.reports.pipeline.inspection import corrupt
from plugins.audit.reports.pipeline.place import JournalPlace
from plugins.audit.reports.pipeline.store import EventStore
from plugins.audit.segments import segments
from tests.plugins.audit.written import chain, write


class Taken:
    """A journal and its store."""

    def __init__(self, spark: SparkSession, journal: Path, work: Path) -> None:
        self._spark = spark
        self._place = JournalPlace.of(str(journal))
        self.store = EventStore(spark, self._place, JournalPlace.of(str(work)))

    def run(self) -> int:
        """How many segments were new."""
        many: list[int] = []
        listing = self._place.listing(self._spark)
        self.store.take_in(listing.sealed, many.append)
        self.store.look_at(listing.unsealed)
        return sum(many)

    def sequences(self) -> list[int]:
        return sorted(row.sequence for row in self.store.rows().where("date IS NOT NULL").collect())


def test_a_sealed_segment_is_taken_in_once_and_an_open_one_is_read_as_it_is_at_each_run(
    spark: SparkSession, tmp_path: Path
) -> None:
    journal = tmp_path / "a [journal] of {March} *"
    writer = chain(journal)
    write(writer, range(20))
    taken = Taken(spark, journal, tmp_path / "work")
    assert taken.run() == 0
    assert taken.sequences() == list(range(1, 22))
    write(writer, range(20, 40))
    assert taken.run() == 0
    assert taken.sequences() == list(range(1, 42))
    writer.end()
    assert taken.run() == 1
    assert taken.sequences() == list(range(1, 43))
    assert taken.run() == 0
    assert taken.sequences() == list(range(1, 43))


def test_what_was_taken_in_stays_when_its_segment_is_deleted(spark: SparkSession, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    for instance in ("aaaaaaaa", "bbbbbbbb"):
        writer = chain(journal, instance)
        write(writer, range(5))
        writer.end()
    taken = Taken(spark, journal, tmp_path / "work")
    taken.run()
    segments(journal)[0].unlink()
    assert taken.run() == 0
    assert len(taken.sequences()) == 14


def test_what_is_deleted_between_its_listing_and_its_reading_keeps_nothing_else_from_being_read(
    spark: SparkSession, tmp_path: Path
) -> None:
    journal = tmp_path / "journal"
    for instance in ("aaaaaaaa", "bbbbbbbb"):
        writer = chain(journal, instance)
        write(writer, range(5))
        writer.end()
    paths = [path.relative_to(journal).as_posix() for path in segments(journal)]
    segments(journal)[0].unlink()
    here = EventStore(spark, JournalPlace.of(str(journal)), JournalPlace.of(str(tmp_path / "sealed")))
    here.take_in(paths, lambda many: None)
    here.look_at([])
    assert here.rows().count() == 7
    elsewhere = EventStore(spark, JournalPlace(f"file:{journal}", None), JournalPlace.of(str(tmp_path / "open")))
    elsewhere.take_in([], lambda many: None)
    elsewhere.look_at(paths)
    assert elsewhere.rows().count() == 7


def test_of_a_file_that_breaks_off_what_is_whole_is_read_and_of_a_foreign_one_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    journal = tmp_path / "journal"
    for instance in ("aaaaaaaa", "bbbbbbbb"):
        writer = chain(journal, instance)
        write(writer, range(20))
        writer.end()
    cut, foreign = segments(journal)
    cut.write_bytes(cut.read_bytes()[:-20])
    foreign.write_bytes(b"this is no segment\n" * 1000)
    taken = Taken(spark, journal, tmp_path / "work")
    taken.run()
    assert taken.sequences() == list(range(1, 22))
    assert corrupt(taken.store.rows()) == ()
