"""The store of a topic: its events as Parquet, so that each record is read once.

    WORK/.../checkpoint/   id=ID/: the progress in the topic with this id: the offsets of each partition
    WORK/.../events/       id=ID/batch=N/date=.../: the records of one batch

Rules:
* A run that was stopped is continued: a batch is written whole or again, under the same number.
* A record is an event if it is a CloudEvent of the proxy. Other records on the topic are kept apart, by topic and
  partition, like corrupt lines of a journal.
* Records that are gone from a partition are reported by their offsets. Records that were read earlier stay. The end
  marker of another program's transaction takes an offset, and looks like a record that is gone.
* A topic that was deleted and created again is read from its beginning, which its id shows. Records of the earlier one
  that were read stay; others are gone, and that is reported.
* Another topic, or another version of the schema, has a store of its own in the same folder.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from typing import NamedTuple

from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from plugins.audit.cloudevents import SPEC, TYPE
from plugins.audit.reports.facts import RemarkFacts
from plugins.audit.reports.pipeline.audit_topic import AuditTopicPlace, TopicAccess, topic_id
from plugins.audit.reports.pipeline.lines import STORED, read
from plugins.audit.reports.pipeline.place import JournalPlace, PlaceError, java_says
from plugins.audit.reports.pipeline.values import table
from plugins.audit.schema import VERSION

LAYOUT = 2  # the version of the store's layout; a change makes a new store
BATCH = 2_000_000  # records that are read together
MOST = 1_000  # gaps that are listed one by one
AT = "`partition` INT, `offset` BIGINT"
AGAIN = "the topic was created again: records of the earlier one that were not read before are gone"
ENVELOPE = "specversion STRING, type STRING, data STRING"


class PartitionRead(NamedTuple):
    """A partition, and the offset before which it was read."""

    partition: int
    end: int


class TopicStore:
    """The events of one topic. `work` is a folder that Spark reads on all machines of its cluster."""

    def __init__(self, spark: SparkSession, place: AuditTopicPlace, access: TopicAccess, work: JournalPlace) -> None:
        self._spark = spark
        self._place = place
        self._access = access
        key = sha256(str(place).encode()).hexdigest()[:16]
        self._folder = work.inside(f"topic-{key}-{VERSION}.{LAYOUT}")
        self._id: str  # of the topic, as it was taken in last

    def take_in(self) -> None:
        """Read the records that are new. Raises PlaceError."""
        source = self._spark.readStream.format("kafka").options(**self._access.of_source)
        source = source.option("kafka.bootstrap.servers", self._place.brokers).option("subscribe", self._place.topic)
        source = source.option("startingOffsets", "earliest").option("maxOffsetsPerTrigger", BATCH)
        try:
            records = source.option("failOnDataLoss", False).load()  # gaps of offsets show the missing records
        except AnalysisException as error:
            if "kafka" not in str(error).lower():
                raise
            way_out = f"give spark-submit --packages {self._access.package}"
            raise PlaceError(f"this Spark cannot read topics; {way_out}") from None
        self._id = topic_id(self._spark, self._place, self._access)
        nothing = table(self._spark, (), f"{STORED}, {AT}")
        nothing.write.mode("ignore").partitionBy("date").parquet(self._events("-1").url)
        query = (
            records.writeStream.foreachBatch(self._take)
            .option("checkpointLocation", self._checkpoint.url)
            .trigger(availableNow=True)
            .start()
        )
        try:
            query.awaitTermination()
        except StreamingQueryException as error:
            raise self._place.not_read(java_says(str(error).splitlines()[0])) from None

    def _take(self, batch: DataFrame, number: int) -> None:
        text = F.col("value").cast("STRING")
        envelope = F.from_json(text, ENVELOPE)
        is_ours = (envelope["specversion"] == SPEC) & envelope["type"].startswith(TYPE)
        lines = batch.select(
            F.when(is_ours, envelope["data"]).alias("value"),
            F.concat(F.col("topic"), F.lit("-"), F.col("partition")).alias("file"),
            text.alias("shown"),
            "partition",
            "offset",
        )
        rows = read(lines, "shown", "partition", "offset")
        rows.write.mode("overwrite").partitionBy("date").parquet(self._events(str(number)).url)

    @property
    def _checkpoint(self) -> JournalPlace:
        return self._folder.inside(f"checkpoint/id={self._id}")

    def _events(self, batch: str) -> JournalPlace:
        return self._folder.inside(f"events/id={self._id}/batch={batch}")

    def _records(self) -> DataFrame:
        reader = self._spark.read.schema(f"{STORED}, {AT}, id STRING")
        return reader.parquet(self._folder.inside("events").pattern).drop("batch")

    def rows(self) -> DataFrame:
        """All events that were read, and other records: the columns of `lines.STORED`."""
        return self._records().drop("id", "partition", "offset")

    def partitions(self) -> list[int]:
        """The partitions of the topic. Raises PlaceError if the topic has no records."""
        return [one.partition for one in self._ends()]

    def _ends(self) -> list[PartitionRead]:
        log = self._checkpoint.inside("offsets")
        rows = self._spark.read.text(log.pattern).select("value", F.col("_metadata.file_name").alias("file")).collect()
        known = [(int(row.file), row.value) for row in rows if row.value.startswith("{")]
        for _, value in sorted(known, reverse=True):
            said = json.loads(value)
            if said.keys() == {self._place.topic} and any(
                said[self._place.topic].values()
            ):  # other lines are Spark's metadata
                return sorted(PartitionRead(int(one), end) for one, end in said[self._place.topic].items())
        raise PlaceError(f"{self._place}: the topic has no records")

    def gaps(self) -> Iterator[RemarkFacts]:
        """Records that were gone from the topic before they were read."""
        ends, is_now = self._ends(), F.col("id") == self._id
        if not self._records().where(~is_now).isEmpty():
            yield RemarkFacts(self._place.topic, AGAIN, None, None, gap=True)
        records = self._records().where(is_now)
        rows = records.groupBy("partition").agg(F.count("*").alias("many")).collect()
        counts = {row.partition: row.many for row in rows}
        torn = [one for one in ends if counts.get(one.partition, 0) < one.end]
        if not torn:
            return
        there = records.where(F.col("partition").isin([one.partition for one in torn]))
        there = there.select("partition", "offset").unionByName(table(self._spark, torn, AT))
        before = F.lag("offset", 1, -1).over(Window.partitionBy("partition").orderBy("offset"))
        missing = there.withColumn("before", before).where("offset > before + 1").orderBy("partition", "offset")
        found = missing.limit(MOST).collect()
        for row in found:
            first, last = row.before + 1, row.offset - 1
            what = f"records {first} to {last} were gone before they were read: by retention, or somebody deleted them"
            yield RemarkFacts(f"{self._place.topic}-{row.partition}", what, None, None, gap=True)
        if len(found) == MOST and (more := missing.count() - MOST):
            yield RemarkFacts(self._place.topic, f"{more:,} more gaps are not listed here", None, None, gap=True)
