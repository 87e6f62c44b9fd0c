"""Computed: the rows of a report, computed once: written as one Parquet file in their order, and read from there."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plugins.audit.reports.pipeline.place import JournalPlace, PlaceError
from plugins.audit.reports.report import AuditReport

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MOMENT = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'"  # as in the journal


def computed(spark: SparkSession, frame: DataFrame, report: AuditReport, out: Path) -> Iterator[Sequence[Any]]:
    """The rows of `frame`, from the file that this writes into the folder `out`. Raises PlaceError."""
    from pyspark.sql import functions as F

    file, parts = out / f"{report.name}.parquet", out / f".{report.name}"
    frame.write.mode("overwrite").parquet(JournalPlace.of(str(parts)).url)
    written = list(parts.glob("part-*.parquet"))
    if len(written) != 1:
        raise PlaceError(f"{parts}: the workers of Spark wrote nothing here; give --out a disk that all of them share")
    written[0].replace(file)
    shutil.rmtree(parts)
    texts = {
        "TIMESTAMP": lambda name: F.date_format(name, MOMENT).alias(name),
        "DATE": lambda name: F.col(name).cast("STRING"),
    }
    shown = [texts.get(column.type, F.col)(column.name) for column in report.columns]
    yield from spark.read.parquet(JournalPlace.of(str(file)).pattern).select(*shown).toLocalIterator()
