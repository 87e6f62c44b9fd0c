"""The store: the events of a journal as Parquet, by date, so that each segment is read once.

    WORK/.../arrived/      lists of sealed segments, in the order in which they were found: the input of the stream
    WORK/.../checkpoint/   the progress of the stream
    WORK/.../events/       batch=N/date=.../: the events in the segments of one list
    WORK/.../open/         date=.../: the events in all other segments, as they were at the last run

Rules:
* A sealed segment that is as it was written is read once. A segment that may still be written, or that was altered, is
  read anew at each run, since its bytes may be restored.
* A run that was stopped is continued: a batch is written whole or again, under the same number.
* A segment that is deleted after it was listed is as one that was never there.
* Events that were read stay, also if their segment is deleted later: its seal shows that it was deleted.
* Another journal, or another version of the schema, has a store of its own in the same folder.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from plugins.audit.reports.pipeline.lines import STORED, read
from plugins.audit.reports.pipeline.place import JournalPlace
from plugins.audit.reports.pipeline.values import table
from plugins.audit.schema import VERSION

LAYOUT = 2  # the version of the store's layout; a change makes a new store
BATCH = 128  # segments that are read together: at most 2 GiB

OnProgress = Callable[[int], None]  # gets the number of segments that were read


class EventStore:
    """The events of one journal. `work` is a folder that Spark reads on all machines of its cluster."""

    def __init__(self, spark: SparkSession, journal: JournalPlace, work: JournalPlace) -> None:
        self._spark = spark
        self._journal = journal
        key = sha256(journal.url.encode()).hexdigest()[:16]
        self._folder = work.inside(f"{key}-{VERSION}.{LAYOUT}")
        self._arrived = self._folder.inside("arrived")

    def take_in(self, sealed: Sequence[str], progress: OnProgress) -> int:
        """Read the segments that are new. Returns their number."""
        arrived = self._arrived
        table(self._spark, (), "value STRING").write.mode("ignore").text(arrived.url)  # exists from now on
        self._write((), "events/batch=-1", "ignore")
        known = self._known()
        new = [(path,) for path in sealed if path not in known]
        if new:
            lists = table(self._spark, new, "value STRING").coalesce(1)
            lists.write.mode("append").option("maxRecordsPerFile", BATCH).text(arrived.url)

        def take(batch: DataFrame, number: int) -> None:
            paths = [row.value for row in batch.collect()]
            if paths:
                self._write(paths, f"events/batch={number}", "overwrite")
                progress(len(paths))

        stream = self._spark.readStream.option("maxFilesPerTrigger", 1).text(arrived.pattern)
        query = (
            stream.writeStream.foreachBatch(take)
            .option("checkpointLocation", self._folder.inside("checkpoint").url)
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        return len(new)

    def look_at(self, others: Sequence[str]) -> None:
        """Read segments as they are now. A segment that was taken in before stays as it was then."""
        known = self._known()
        self._write([path for path in others if path not in known], "open", "overwrite")

    def _known(self) -> set[str]:
        """The segments that were taken in."""
        return {row.value for row in self._spark.read.text(self._arrived.pattern).collect()}

    def rows(self) -> DataFrame:
        """All events that were read, and corrupt lines: the columns of `lines.STORED`."""
        reader = self._spark.read.schema(STORED)
        taken = reader.parquet(self._folder.inside("events").pattern).drop("batch")
        return taken.unionByName(reader.parquet(self._folder.inside("open").pattern))

    def _write(self, paths: Sequence[str], target: str, mode: str) -> None:
        # A missing file was pruned or deleted since it was listed. Spark ignores only those that go while it reads.
        there = [self._journal.inside(path).pattern for path in self._journal.there(self._spark, paths)]
        if there:
            # A file that breaks off gives its whole frames: `verify` reports it, and one that was deleted.
            reader = self._spark.read.option("ignoreCorruptFiles", True).option("ignoreMissingFiles", True)
            files = reader.text(there)
            rows = read(files.select("value", F.col("_metadata.file_name").alias("file")))
        else:
            rows = table(self._spark, (), STORED)
        rows.write.mode(mode).partitionBy("date").parquet(self._folder.inside(target).url)
