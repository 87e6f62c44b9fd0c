"""Lines: from the lines of segments to the table of events. Lines that are no events are kept apart.

Rules:
* The columns are those of the journal's schema. A field that an older version lacks is null; a field that only a newer
  version has is left out.
* A line is an event if it is one JSON object with the stamp of every event and no field of a wrong type. Any other line
  is corrupt: its row has the file and the beginning of the line, and no `date`.
* `date` is that of the event's time, in UTC, not of the folder of its segment.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from plugins.audit.columns import columns
from plugins.audit.schema import EventStamp, ddl

STORED = f"{ddl()}, `file` STRING, `line` STRING, `date` DATE"
SHOWN = 200  # characters of a corrupt line
EARLIEST, LATEST = "2000-01-01", "2200-01-01"  # other times are corrupt; each date would be a folder
_CORRUPT = "_corrupt"


def read(lines: DataFrame, shown: str = "value", *kept: str) -> DataFrame:
    """A row for each line, with the columns of `STORED`, and the columns `kept` unchanged.

    `lines` has `value` and `file`; `shown` names the column whose text is shown for a corrupt line.
    """
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _CORRUPT}
    event = F.from_json("value", f"{ddl()}, `{_CORRUPT}` STRING", options)
    parsed = lines.select(event.alias("event"), "file", F.substring(shown, 1, SHOWN).alias("shown"), *kept)
    is_event = F.col(f"event.{_CORRUPT}").isNull() & F.col("event.time").between(F.lit(EARLIEST), F.lit(LATEST))
    for column in columns(EventStamp):
        is_event &= F.col(f"event.{column.name}").isNotNull()
    corrupt = ~F.coalesce(is_event, F.lit(False))
    return parsed.select(
        "event.*",
        "file",
        F.when(corrupt, F.col("shown")).alias("line"),
        F.when(~corrupt, F.to_date("event.time")).alias("date"),
        *kept,
    ).drop(_CORRUPT)
