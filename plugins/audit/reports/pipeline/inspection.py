"""Inspection: facts about a journal beside its events: the verification of its seals, its hashes, its corrupt lines.

Seals are checked on this machine, as `doorkeeper audit verify` does, also those of a remote journal (`mirror.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from plugins.audit.recovery import is_locked
from plugins.audit.reports.facts import CorruptFacts, JournalFacts, RemarkFacts, SegmentFacts
from plugins.audit.reports.pipeline.audit_topic import AuditTopicPlace
from plugins.audit.reports.pipeline.events import PeriodEvents
from plugins.audit.reports.pipeline.mirror import JournalFiles, journal_files
from plugins.audit.reports.pipeline.place import JournalPlace
from plugins.audit.reports.report import Scope
from plugins.audit.seals import BadSealError, read_seal
from plugins.audit.search import EventFilter
from plugins.audit.segments import SegmentName, beside
from plugins.audit.signing import fingerprint
from plugins.audit.verify import verify

SOFTWARE = f"doorkeeper {version('doorkeeper')}"
MOST = 1_000  # files with corrupt lines that are listed one by one


def of_topic(place: AuditTopicPlace, partitions: Iterable[int], gaps: tuple[RemarkFacts, ...]) -> JournalFacts:
    """The facts about a topic, which has no seals: its partitions, and the records that are gone from it."""
    segments = tuple(SegmentFacts(f"{place.topic}-{one}", "", None, None, "not checked") for one in partitions)
    return JournalFacts(str(place), False, segments, gaps, software=SOFTWARE)


def inspect(
    spark: SparkSession, place: JournalPlace, paths: tuple[str, ...], trusted: Sequence[Ed25519PublicKey] = ()
) -> JournalFacts:
    """The facts about a journal. `paths`: segments that may have events of the period. Raises OSError, PlaceError.

    `trusted`: the keys with which it must be signed; without them, any.

    A segment that was deleted since it was listed is left out: verification says whether it was pruned.
    """
    with journal_files(spark, place) as files:
        verified = verify(files.folder, *trusted, fetched=files.fetched)
        segments = tuple(filter(None, (_segment(files, path, trusted) for path in paths)))
    remarks = tuple(RemarkFacts(one.place.as_posix(), *one[1:]) for one in verified.remarks)
    keys = tuple(fingerprint(key) for key in sorted(verified.keys))
    return JournalFacts(str(place), True, segments, remarks, keys, software=SOFTWARE, is_trusted=bool(trusted))


def of_period(paths: tuple[str, ...], since: datetime | None, until: datetime | None) -> tuple[str, ...]:
    """The segments that may have events of a period, judged by their names."""
    wanted = EventFilter(since, until)
    return tuple(path for path in paths if (name := SegmentName.of(Path(path))) and wanted.may_be_in(name))


def corrupt(rows: DataFrame) -> tuple[CorruptFacts, ...]:
    """The files with lines that are no events. `rows`: the rows of the store."""
    files = rows.where("date IS NULL").groupBy("file").agg(F.count("*").alias("lines"), F.min("line").alias("example"))
    return tuple(CorruptFacts(row.file, row.lines, row.example) for row in files.orderBy("file").limit(MOST).collect())


def counted(events: PeriodEvents, facts: JournalFacts) -> JournalFacts:
    """The facts with the numbers of events of the period: by schema version, redacted, repeated, and incomplete."""
    period = events.of(Scope.PERIOD)
    left_out = F.coalesce("resources_left_out", F.lit(0)) + F.coalesce("changes_left_out", F.lit(0))
    many = (F.count("*").alias("events"), F.sum(left_out).alias("left_out"))
    rows = period.groupBy("schema", "redacted").agg(*many).collect()
    versions, redacted = Counter[int](), Counter[str]()
    for row in rows:
        versions[row.schema] += row.events
        redacted.update(dict.fromkeys(row.redacted or (), row.events))
    is_asked = bool(events.inputs.principals or events.inputs.topics)
    return replace(
        facts,
        asked_for=events.of(Scope.FILTERED).count() if is_asked else None,
        versions=tuple(sorted(versions.items())),
        events=versions.total(),
        redacted=tuple(sorted(redacted.items())),
        repeated=events.repeated,
        unnamed=events.topics.unnamed(period),
        left_out=sum(row.left_out for row in rows),
    )


def _segment(files: JournalFiles, path: str, trusted: Sequence[Ed25519PublicKey]) -> SegmentFacts | None:
    file = files.folder / path
    try:
        digest = files.sha256(Path(path))
    except FileNotFoundError:
        return None
    try:
        seal = read_seal(beside(file, "seal"), *trusted).seal
    except FileNotFoundError:
        return SegmentFacts(path, digest, None, None, "being written" if is_locked(file) else "no seal")
    except BadSealError:
        return SegmentFacts(path, digest, None, None, "altered")
    is_same = seal.sha256 == digest and seal.name.path == Path(path)
    return SegmentFacts(path, digest, seal.first, seal.last, "sealed" if is_same else "altered")
