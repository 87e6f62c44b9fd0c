"""Lines: from the lines of segments to the table of events, with what is no event apart.

Rules:
* The columns are those of the journal's schema. What an older version does not have is null; a field that only a newer
  one has is left out.
* A line is an event if it is one JSON object with the stamp of every event and no field of another type. Any other is
  corrupt: it keeps its file and its beginning, and has no `date`.
* `date` and `hour` are of the event's time, in UTC, not of the folder that it was found in.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from plugins.audit.columns import columns
from plugins.audit.schema import Stamp, ddl

STORED = f"{ddl()}, `file` STRING, `line` STRING, `date` DATE"
SHOWN = 200  # characters of a corrupt line
EARLIEST, LATEST = "2000-01-01", "2200-01-01"  # other times are no times of events, and each date is a folder
_CORRUPT = "_corrupt"


def read(lines: DataFrame, shown: str = "value", *kept: str) -> DataFrame:
    """The columns of `STORED`, a row for each line, and those that are kept as they are.

    `lines` has `value` and `file`; `shown` names the column of what is told of a line that is corrupt.
    """
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _CORRUPT}
    event = F.from_json("value", f"{ddl()}, `{_CORRUPT}` STRING", options)
    parsed = lines.select(event.alias("event"), "file", F.substring(shown, 1, SHOWN).alias("shown"), *kept)
    is_event = F.col(f"event.{_CORRUPT}").isNull() & F.col("event.time").between(F.lit(EARLIEST), F.lit(LATEST))
    for column in columns(Stamp):
        is_event &= F.col(f"event.{column.name}").isNotNull()
    corrupt = ~F.coalesce(is_event, F.lit(False))
    return parsed.select(
        "event.*",
        "file",
        F.when(corrupt, F.col("shown")).alias("line"),
        F.when(~corrupt, F.to_date("event.time")).alias("date"),
        *kept,
    ).drop(_CORRUPT)
