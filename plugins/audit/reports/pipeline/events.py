"""Events: the events of a period, each once, as reports read them.

Rules:
* An event is identified by its instance, worker and sequence. If a journal has it more than once, as after a segment
  was copied, it counts once. If the copies differ, which only tampering explains, one is chosen by its content, so that
  the choice is always the same.
* Most journals have no repetitions. This is checked with these three columns alone: 64 consecutive sequence numbers of
  a chain are the bits of one number. So few rows are shuffled for millions of events. If there are as many bits as
  events, nothing more is to be done.
* `hour` is the hour of the event's time, in UTC.
* A topic that an event has only by its id gets the name that other events have for it (`topics.py`). A topic without a
  name is filtered by its id.
* If the reports are filtered by topics, the other topics of a request are left out: their figures would be partial.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from plugins.audit.reports.expressions import CHAIN, is_anonymous
from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.pipeline.topics import TopicsById
from plugins.audit.reports.report import Scope
from rules.clients import ANONYMOUS

KEY = (*CHAIN, "sequence")
BITS = 64  # of a BIGINT, the sequence numbers in a run
MARGIN = timedelta(hours=1)  # an event is written a little later than it happened


class PeriodEvents:
    """The events for one run of the reports. `rows`: the rows of the store."""

    def __init__(self, rows: DataFrame, inputs: Inputs) -> None:
        self.inputs = inputs
        events = rows.where("date IS NOT NULL").drop("file", "line").withColumn("hour", F.hour("time"))
        around = between(events, *_widened(inputs.since, inputs.until))
        self._events = events
        self._around = around
        self._twice = _repeating(around).cache()
        (row,) = self._twice.agg(F.sum("copies").alias("many")).collect()
        self.repeated: int = row.many or 0
        # Events before the period are needed only to find the ids of topics in the filter, and for `newcomers`.
        self.topics = TopicsById(between(events, None, inputs.until) if inputs.topics else around, events)

    def of(self, scope: Scope) -> DataFrame:
        """The events of a scope."""
        inputs = self.inputs
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
        inputs = self.inputs
        if inputs.principals:
            is_anonymous_wanted = F.lit(ANONYMOUS in inputs.principals)
            events = events.where(
                _named(F.col("principal"), inputs.principals) | (is_anonymous_wanted & is_anonymous())
            )
        if inputs.topics:
            touched = F.exists("resources", lambda one: (one["type"] == "topic") & _named(_called(one), inputs.topics))
            asked = (F.col("resource_type") == "topic") & _named(F.col("resource_name"), inputs.topics)
            events = events.where(F.coalesce(touched, F.lit(False)) | F.coalesce(asked, F.lit(False)))
            told = F.filter("resources", lambda one: (one["type"] != "topic") | _named(_called(one), inputs.topics))
            changed = F.filter("changes", lambda one: (one["type"] != "topic") | _named(one["name"], inputs.topics))
            events = events.withColumns({"resources": told, "changes": changed})
        return events


def between(events: DataFrame, since: datetime | None, until: datetime | None) -> DataFrame:
    """The events from `since` on and before `until`. Folders of other dates are not read."""
    if since is not None:
        events = events.where((F.col("date") >= F.lit(since.date())) & (F.col("time") >= _moment(since)))
    if until is not None:
        events = events.where((F.col("date") <= F.lit(until.date())) & (F.col("time") < _moment(until)))
    return events


def _run() -> Column:
    """The run of an event: 64 consecutive sequence numbers of a chain, as many as a BIGINT has bits."""
    return F.floor(F.col("sequence") / BITS).alias("run")


def _repeating(events: DataFrame) -> DataFrame:
    """The runs that have an event more than once, with the number of `copies` in excess."""
    bit = F.expr(f"shiftleft(1L, CAST(pmod(sequence, {BITS}) AS INT))")
    many = F.count("*") - F.bit_count(F.bit_or(bit))
    return events.groupBy(*CHAIN, _run()).agg(many.alias("copies")).where("copies > 0")


def _moment(at: datetime) -> Column:
    return F.to_timestamp(F.lit(at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")))


def _called(topic: Column) -> Column:
    return F.coalesce(topic["name"], topic["id"])


def _named(name: Column, wanted: tuple[str, ...]) -> Column:
    """Whether the name is one of these. A `*` at the end of one makes it a prefix."""
    each = (name.startswith(one[:-1]) if one.endswith("*") else name == one for one in wanted)
    return reduce(lambda left, right: left | right, each)


def _widened(since: datetime | None, until: datetime | None) -> tuple[datetime | None, datetime | None]:
    return since and since - MARGIN, until and until + MARGIN
