"""Values: a small table of values in the driver, without a Python process on Spark's workers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType


def table(spark: SparkSession, rows: Iterable[Sequence[Any]], ddl: str) -> DataFrame:
    """These rows, in their order, with the columns of the DDL. Moments are text, as in the journal."""
    declared = StructType.fromDDL(ddl)
    assert isinstance(declared, StructType)
    text = json.dumps([dict(zip(declared.names, row, strict=True)) for row in rows])
    return spark.range(0, 1, 1, 1).select(F.inline(F.from_json(F.lit(text), f"ARRAY<STRUCT<{ddl}>>")))
