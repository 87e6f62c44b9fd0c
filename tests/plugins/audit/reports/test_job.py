"""The job: from a journal to a page and tables, with the same result each time."""

from __future__ import annotations

import csv
from datetime import UTC, datetime
from pathlib import Path

import pytest
import zstandard
from pyspark.sql import SparkSession

from plugins.audit.contents import segment_lines
from plugins.audit.pseudonyms import pseudonyms
from plugins.audit.redacted import redactor
from plugins.audit.redaction import RedactionRule
from plugins.audit.reports.catalogue import REPORTS
from plugins.audit.reports.facts import JournalFacts
from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.job import ReportError, ReportJob, make
from plugins.audit.reports.pipeline.place import JournalPlace
from plugins.audit.reports.pipeline.session import knows_zone
from plugins.audit.reports.progress import Progressed
from plugins.audit.segments import segments
from tests.plugins.audit.reports.journals import lose_segment, write_journal
from tests.plugins.audit.reports.months import HOUR, Happening
from tests.plugins.audit.written import START, chain, event, full_disk, write


def made(spark: SparkSession, journal: Path, out: Path, many: int = 1) -> list[Progressed]:
    steps: list[Progressed] = []
    out.mkdir(exist_ok=True)
    job = ReportJob(str(journal), out, REPORTS[:many], Inputs(JournalFacts(str(journal), False)), "local[2]")
    make(job, JournalPlace.of(str(journal)), spark, steps.append)
    return steps


def files(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}


def test_a_run_again_gives_the_same_bytes_and_reads_no_segment_again(spark: SparkSession, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    writer = chain(journal)
    write(writer, range(50))
    writer.end()
    assert made(spark, journal, tmp_path / "out")[0] == Progressed(1, 4, "segments are read")
    first = files(tmp_path / "out")
    assert first.keys() == {"access.csv", "access.parquet", "index.html", "inputs.sha256"}
    assert made(spark, journal, tmp_path / "out")[-1] == Progressed(4, 4, "access")
    assert files(tmp_path / "out") == first
    made(spark, journal, tmp_path / "anew")
    assert files(tmp_path / "anew") == first


def test_all_is_done_at_the_end_also_where_a_report_lacks_its_input(spark: SparkSession, tmp_path: Path) -> None:
    chain(tmp_path / "journal").end()
    last = made(spark, tmp_path / "journal", tmp_path / "out", many=2)[-1]
    assert (last.what, last.done) == ("sensitive", last.total)


def test_no_table_of_an_earlier_run_stays(spark: SparkSession, tmp_path: Path) -> None:
    journal, out = tmp_path / "journal", tmp_path / "out"
    writer = chain(journal)
    write(writer, range(5))
    writer.end()
    out.mkdir()
    for name in ("denials.csv", "denials.parquet", "acl-proposal.yaml", "notes.txt"):
        (out / name).write_text("of an earlier run")
    made(spark, journal, out)
    assert files(out).keys() == {"access.csv", "access.parquet", "index.html", "inputs.sha256", "notes.txt"}


def test_a_late_event_counts_in_its_period_and_a_segment_that_is_missing_is_said(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Of four writes one came into the journal twenty minutes after the period, and one is taken away."""
    journal, out = tmp_path / "journal", tmp_path / "out"
    moments = ((0.5, 0.5), (1.5, 1.5), (2.5, 2.5), (2.9, 3.3))
    write_journal(journal, [Happening(START + put * HOUR, 0, event(1, START + at * HOUR)) for at, put in moments])
    lose_segment(journal, 1)
    out.mkdir()
    asked = Inputs(JournalFacts(str(journal), False), until=datetime.fromtimestamp(START + 3 * HOUR, UTC))
    reports = tuple(report for report in REPORTS if report.name in ("access", "completeness"))
    job = ReportJob(str(journal), out, reports, asked, "local[2]")
    make(job, JournalPlace.of(str(journal)), spark, lambda step: None)
    (access,) = csv.DictReader((out / "access.csv").read_text(encoding="utf-8").splitlines())
    assert access["writes"] == "3"
    findings = csv.DictReader((out / "completeness.csv").read_text(encoding="utf-8").splitlines())
    assert [row["events"] for row in findings if row["finding"] == "missing"] == ["2"]  # with the segment's own
    assert "something was done to the journal" in (out / "index.html").read_text(encoding="utf-8")


def test_what_was_done_to_the_journal_is_said_in_the_page(spark: SparkSession, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    writer = chain(journal)
    write(writer, range(50))
    writer.end()
    (file,) = segments(journal)
    file.write_bytes(file.read_bytes()[:-30])
    made(spark, journal, tmp_path / "out", 0)
    assert "made unreadable" in (tmp_path / "out" / "index.html").read_text()


def test_a_segment_that_was_altered_and_put_back_counts_as_it_is(spark: SparkSession, tmp_path: Path) -> None:
    """And one that was taken in before it was altered counts as it was then."""
    journal = tmp_path / "journal"
    writer = chain(journal)
    write(writer, range(50))
    writer.end()
    (file,) = segments(journal)
    original, forged = file.read_bytes(), b"".join(segment_lines(file)).replace(b"orders-1", b"forged-1")
    file.write_bytes(zstandard.compress(forged))
    made(spark, journal, tmp_path / "out")
    table = tmp_path / "out" / "access.csv"
    assert "forged-1" in table.read_text()
    for data in (original, zstandard.compress(forged)):
        file.write_bytes(data)
        made(spark, journal, tmp_path / "out")
        assert "orders-1" in table.read_text()
        assert "forged-1" not in table.read_text()


def test_what_is_redacted_is_said_in_the_page(spark: SparkSession, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    hashing = RedactionRule.model_validate({"fields": "topic", "how": "hash"})
    writer = chain(journal, redactor=redactor([hashing], tmp_path / "secret"))
    write(writer, range(50))
    writer.end()
    made(spark, journal, tmp_path / "out")
    page = " ".join((tmp_path / "out" / "index.html").read_text().split())
    assert "In 50 events of the period topic is redacted" in page
    assert "The journal redacts names of this report: topic in 50 events of the period." in page
    assert pseudonyms(tmp_path / "secret").of("topic", "orders-1") in (tmp_path / "out" / "access.csv").read_text()


def test_a_folder_that_is_no_journal_is_told_in_one_line(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="there is no segment of a journal; give the folder with date="):
        made(spark, tmp_path, tmp_path / "out")


def test_what_spark_finds_wrong_is_told_in_one_line(spark: SparkSession, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    writer = chain(journal)
    write(writer, range(5))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "work").touch()
    with pytest.raises(ReportError, match=r"^Spark: .+$") as refused:
        made(spark, journal, tmp_path / "out")
    assert "\n" not in str(refused.value)


def test_a_zone_that_java_does_not_know_is_told_before_anything_is_read(spark: SparkSession, tmp_path: Path) -> None:
    journal, out = tmp_path / "journal", tmp_path / "out"
    writer = chain(journal)
    write(writer, range(5))
    writer.end()
    job = ReportJob(str(journal), out, REPORTS, Inputs(JournalFacts("journal", False), zone="Factory"), "local[2]")
    with pytest.raises(ReportError, match=r"^Java does not know the time zone Factory; give --zone another place"):
        make(job, JournalPlace.of(str(journal)), spark, lambda step: None)
    assert not out.exists()


@pytest.mark.parametrize("zone", ["UTC", "Europe/Zurich", "EST", "GMT+0"])
def test_zones_that_java_knows_are_known(spark: SparkSession, zone: str) -> None:
    assert knows_zone(spark, zone)


def test_a_full_disk_is_told_with_the_folder_and_leaves_no_page(spark: SparkSession, tmp_path: Path) -> None:
    journal, out = tmp_path / "journal", tmp_path / "out"
    writer = chain(journal)
    write(writer, range(5))
    writer.end()
    with full_disk(journal), pytest.raises(ReportError, match=f"^{out}: File too large; check its permissions and"):
        made(spark, journal, out)
    assert not [path for path in out.iterdir() if "index.html" in path.name]
