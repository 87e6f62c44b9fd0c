"""Events: those of a period, each once, as reports read them.

Rules:
* An event is known by its instance, its worker and its sequence. Where a journal has one more than once, as after a
  segment was copied, it counts once. Where the copies differ, which only tampering explains, one is chosen by its
  content, so that the choice is always the same.
* Most journals repeat nothing. That is found out from these three columns alone: 64 numbers of a chain are the bits of
  one, so that a few rows are moved for millions of events, and none again where there are as many bits as events.
* `hour` is that of the event's time, in UTC.
* A topic that an event knows by its id has the name that other events say (`topics.py`). One that has no name is asked
  for by its id.
* Where topics are asked for, an event is told without the other topics of its request: their figures would be partial.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.pipeline.topics import TopicsById
from plugins.audit.reports.report import Scope

CHAIN = ("instance", "worker")
KEY = (*CHAIN, "sequence")
BITS = 64  # of a BIGINT
MARGIN = timedelta(hours=1)  # an event is written a little later than it happened


class PeriodEvents:
    """The events that a run of the reports is about. `rows` are those of the store."""

    def __init__(self, rows: DataFrame, inputs: Inputs) -> None:
        self._inputs = inputs
        events = rows.where("date IS NOT NULL").drop("file", "line").withColumn("hour", F.hour("time"))
        around = between(events, *_widened(inputs.since, inputs.until))
        self._events = events
        self._around = around
        self._twice = _repeating(around).cache()
        (row,) = self._twice.agg(F.sum("copies").alias("many")).collect()
        self.repeated: int = row.many or 0
        # Events before the period matter where a topic is looked for in them, and to newcomers alone.
        self.topics = TopicsById(between(events, None, inputs.until) if inputs.topics else around, events)

    def of(self, scope: Scope) -> DataFrame:
        """The events of a scope."""
        inputs = self._inputs
        if scope is Scope.HISTORY:
            return self._filtered(self._once(self.topics.told(between(self._events, None, inputs.until))))
        around = self._once(self.topics.told(self._around))
        if scope is Scope.AROUND:
            return around
        period = between(around, inputs.since, inputs.until)
        return period if scope is Scope.PERIOD else self._filtered(period)

    def _once(self, events: DataFrame) -> DataFrame:
        if not self.repeated:
            return events
        twice, known = self._twice.drop("copies"), events.columns
        numbered, key = events.withColumn("run", _run()), [*CHAIN, "run"]
        copies = numbered.join(twice, key, "left_semi").groupBy(*KEY).agg(F.min(F.struct(*known)).alias("one"))
        return numbered.join(twice, key, "left_anti").select(*known).unionByName(copies.select("one.*"))

    def _filtered(self, events: DataFrame) -> DataFrame:
        inputs = self._inputs
        if inputs.principals:
            events = events.where(_named(F.col("principal"), inputs.principals))
        if inputs.topics:
            touched = F.exists("resources", lambda one: (one["type"] == "topic") & _named(_called(one), inputs.topics))
            asked = (F.col("resource_type") == "topic") & _named(F.col("resource_name"), inputs.topics)
            events = events.where(F.coalesce(touched, F.lit(False)) | F.coalesce(asked, F.lit(False)))
            told = F.filter("resources", lambda one: (one["type"] != "topic") | _named(_called(one), inputs.topics))
            changed = F.filter("changes", lambda one: (one["type"] != "topic") | _named(one["name"], inputs.topics))
            events = events.withColumns({"resources": told, "changes": changed})
        return events


def between(events: DataFrame, since: datetime | None, until: datetime | None) -> DataFrame:
    """The events from one moment on and before another. Folders of other dates are not read."""
    if since is not None:
        events = events.where((F.col("date") >= F.lit(since.date())) & (F.col("time") >= _moment(since)))
    if until is not None:
        events = events.where((F.col("date") <= F.lit(until.date())) & (F.col("time") < _moment(until)))
    return events


def _run() -> Column:
    """So many numbers of a chain are one run as a BIGINT has bits."""
    return F.floor(F.col("sequence") / BITS).alias("run")


def _repeating(events: DataFrame) -> DataFrame:
    """The runs that have an event more than once, and how many `copies` are too many."""
    bit = F.expr(f"shiftleft(1L, CAST(pmod(sequence, {BITS}) AS INT))")
    many = F.count("*") - F.bit_count(F.bit_or(bit))
    return events.groupBy(*CHAIN, _run()).agg(many.alias("copies")).where("copies > 0")


def _moment(at: datetime) -> Column:
    return F.to_timestamp(F.lit(at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")))


def _called(topic: Column) -> Column:
    return F.coalesce(topic["name"], topic["id"])


def _named(name: Column, wanted: tuple[str, ...]) -> Column:
    """Is it one of these names? A `*` at the end of one stands for any end."""
    each = (name.startswith(one[:-1]) if one.endswith("*") else name == one for one in wanted)
    return reduce(lambda left, right: left | right, each)


def _widened(since: datetime | None, until: datetime | None) -> tuple[datetime | None, datetime | None]:
    return since and since - MARGIN, until and until + MARGIN
