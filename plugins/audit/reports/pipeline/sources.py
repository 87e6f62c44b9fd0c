"""Sources: the rows of all events of a journal, or of an audit topic, and the facts about it.

Rules:
* The facts are found first, since only a sealed segment that is as it was written is read for good.
* The number of parts of the work is known as soon as the segments are listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from pyspark.sql import DataFrame, SparkSession

from plugins.audit.reports.facts import JournalFacts
from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.pipeline.audit_topic import AuditTopicPlace, TopicAccess
from plugins.audit.reports.pipeline.inspection import inspect, of_period, of_topic
from plugins.audit.reports.pipeline.place import JournalPlace
from plugins.audit.reports.pipeline.store import EventStore
from plugins.audit.reports.pipeline.topic_store import TopicStore
from plugins.audit.reports.progress import WorkProgress


class SourceRead(NamedTuple):
    """The rows of a store, and the facts about what it was read from."""

    rows: DataFrame
    facts: JournalFacts


def read_journal(
    spark: SparkSession,
    place: JournalPlace,
    work: JournalPlace,
    asked: Inputs,
    keys: Sequence[Ed25519PublicKey],
    progress: WorkProgress,
) -> SourceRead:
    """Read what is new in a journal. `keys`: those with which it must be signed. Raises PlaceError, OSError."""
    listing = place.listing(spark)
    sealed, unsealed = (of_period(paths, None, asked.until) for paths in listing)
    facts = inspect(spark, place, of_period((*sealed, *unsealed), asked.since, asked.until), keys)
    sound = [path for path in sealed if not facts.doubts(path)]
    progress.total += len(sound) + 1
    store = EventStore(spark, place, work)
    fresh = store.take_in(sound, lambda many: progress.step("segments are read", many))
    if known := len(sound) - fresh:
        progress.step("segments are read", known)
    store.look_at((*unsealed, *(path for path in sealed if facts.doubts(path))))
    progress.step("open segments are read")
    return SourceRead(store.rows(), facts)


def read_topic(
    spark: SparkSession, place: AuditTopicPlace, access: TopicAccess, work: JournalPlace, progress: WorkProgress
) -> SourceRead:
    """Read what is new on a topic. Raises PlaceError."""
    progress.total += 1
    store = TopicStore(spark, place, access, work)
    store.take_in()
    progress.step("the topic is read")
    return SourceRead(store.rows(), of_topic(place, store.partitions(), tuple(store.gaps())))
