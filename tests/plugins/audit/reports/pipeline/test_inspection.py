"""Inspection: facts about a journal beside its events."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pyspark.sql import SparkSession

from plugins.audit.pruning import prune
from plugins.audit.reports.facts import CorruptFacts
from plugins.audit.reports.pipeline.inspection import corrupt, inspect, of_period
from plugins.audit.reports.pipeline.place import JournalPlace
from plugins.audit.segments import beside, segments
from tests.plugins.audit.reports.frames import lines
from tests.plugins.audit.written import KEY, chain, write


@pytest.mark.parametrize("is_here", [True, False])
def test_each_segment_is_told_with_its_hash_and_what_its_seal_proves(
    spark: SparkSession, tmp_path: Path, is_here: bool
) -> None:
    for number in range(4):
        writer = chain(tmp_path, f"aaaaaaa{number}")
        write(writer, range(5))
        if number < 3:
            writer.end()
    _, altered, unsealed, _ = files = segments(tmp_path)
    altered.write_bytes(altered.read_bytes() + b"more")
    beside(unsealed, "seal").unlink()
    paths = tuple(path.relative_to(tmp_path).as_posix() for path in files)
    facts = inspect(spark, JournalPlace(f"file:{tmp_path}", tmp_path if is_here else None), paths)
    last = "being written" if is_here else "no seal"  # a lock is not seen from elsewhere
    assert [one.state for one in facts.segments] == ["sealed", "altered", "no seal", last]
    assert [one.sha256 for one in facts.segments] == [
        sha256(path.read_bytes()).hexdigest() for path in segments(tmp_path)
    ]
    assert (facts.segments[0].first, facts.segments[0].last) == (1, 7)
    assert facts.is_verified
    assert {one.place for one in facts.remarks} == {*(paths[1:3] if is_here else paths[1:])}
    assert len(facts.keys) == 1


def test_a_segment_that_is_pruned_after_it_was_listed_is_left_out(spark: SparkSession, tmp_path: Path) -> None:
    for instance in ("aaaaaaaa", "bbbbbbbb"):
        chain(tmp_path, instance).end()
    first, second = (path.relative_to(tmp_path).as_posix() for path in segments(tmp_path))
    later = datetime(2026, 3, 2, tzinfo=UTC)
    (tmp_path / second).rename(kept := tmp_path.with_name("kept"))
    assert list(prune(tmp_path, later, KEY, later))
    kept.rename(tmp_path / second)
    facts = inspect(spark, JournalPlace(f"file:{tmp_path}", tmp_path), (first, second))
    assert [one.path for one in facts.segments] == [second]
    assert not facts.remarks


def test_after_a_change_of_the_key_both_may_be_given(spark: SparkSession, tmp_path: Path) -> None:
    after = Ed25519PrivateKey.generate()
    chain(tmp_path, "aaaaaaaa").end()
    chain(tmp_path, "bbbbbbbb", key=after).end()
    place = JournalPlace(f"file:{tmp_path}", tmp_path)
    paths = tuple(path.relative_to(tmp_path).as_posix() for path in segments(tmp_path))
    keys = KEY.public_key(), after.public_key()
    assert [one.state for one in inspect(spark, place, paths, keys).segments] == ["sealed", "sealed"]
    assert [one.state for one in inspect(spark, place, paths, keys[:1]).segments] == ["sealed", "altered"]


def test_the_segments_of_a_period_are_those_of_its_hours_and_one_before_it() -> None:
    paths = tuple(
        f"date=2026-03-01/hour={hour:02}/20260301T{hour:02}0000Z-aa-0-{hour + 1:06}.jsonl.zst" for hour in range(6)
    )
    since, until = datetime(2026, 3, 1, 2, 30, tzinfo=UTC), datetime(2026, 3, 1, 3, tzinfo=UTC)
    assert of_period(paths, since, until) == paths[1:4]
    assert of_period(paths, None, None) == paths


def test_corrupt_lines_are_counted_by_file(spark: SparkSession) -> None:
    rows = lines(spark, ["b", "a"], "one").unionByName(lines(spark, ["{}"], "two"))
    assert corrupt(rows) == (CorruptFacts("one", 2, "a"), CorruptFacts("two", 1, "{}"))
