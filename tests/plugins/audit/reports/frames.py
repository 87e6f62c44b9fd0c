"""Events as tables for reports, made from plain dicts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from plugins.audit.reports.pipeline.lines import read
from plugins.audit.reports.pipeline.values import table


def lines(spark: SparkSession, texts: Iterable[str], file: str = "a segment") -> DataFrame:
    """The store's table of these lines of a file."""
    return read(table(spark, ((text, file) for text in texts), "value STRING, file STRING"))


def clean(spark: SparkSession, events: Iterable[dict[str, Any]]) -> DataFrame:
    """The events as a cached table."""
    rows = lines(spark, map(json.dumps, events)).where("date IS NOT NULL")
    return rows.drop("file", "line").withColumn("hour", F.hour("time")).cache()
