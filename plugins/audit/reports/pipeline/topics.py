"""Topics: the names of topics that an event has only by their ids.

A client may use an id before the proxy has learned it; then its events have no name. Other events of the same journal
have both. A topic keeps its id for life, so the name is right for all of them.

Rules:
* Most journals have a name for every topic. One pass shows that, and then nothing else is done.
* The number of ids that are looked up is limited. Topics for which no event has a name stay as they are, and the page
  shows their number.
"""

from __future__ import annotations

import json
from functools import cached_property

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

MOST = 10_000  # ids


class TopicsById:
    """The names of topics that events of `period` have only by their ids, found in `all_events`."""

    def __init__(self, period: DataFrame, all_events: DataFrame) -> None:
        self._period = period
        self._all = all_events

    @cached_property
    def _ids(self) -> list[str]:
        ids = self._period.where(_any_unnamed()).select(F.explode(F.filter("resources", _is_unnamed)["id"]).alias("id"))
        return [row.id for row in ids.distinct().limit(MOST).collect()]

    @cached_property
    def _names(self) -> dict[str, str]:
        if not self._ids:
            return {}
        told = F.filter("resources", lambda one: one["name"].isNotNull() & one["id"].isin(self._ids))
        both = self._all.where(F.size(told) > 0).select(F.inline(told)).where("type = 'topic'")
        rows = both.groupBy("id").agg(F.min("name").alias("name")).orderBy("id").collect()
        return {row.id: row.name for row in rows}

    def told(self, events: DataFrame) -> DataFrame:
        """The events with the names that were found."""
        if not self._names:
            return events
        names = F.from_json(F.lit(json.dumps(self._names)), "MAP<STRING, STRING>")

        def named(one: Column) -> Column:
            return F.when(_is_unnamed(one), one.withField("name", F.try_element_at(names, one["id"]))).otherwise(one)

        resources = F.when(_any_unnamed(), F.transform("resources", named)).otherwise(F.col("resources"))
        return events.withColumn("resources", resources)

    def unnamed(self, events: DataFrame) -> int:
        """The number of these events with a topic for which no name was found."""
        return events.where(_any_unnamed()).count() if self._ids else 0


def _is_unnamed(resource: Column) -> Column:
    return (resource["type"] == "topic") & resource["name"].isNull() & resource["id"].isNotNull()


def _any_unnamed() -> Column:
    return F.coalesce(F.exists("resources", _is_unnamed), F.lit(False))
