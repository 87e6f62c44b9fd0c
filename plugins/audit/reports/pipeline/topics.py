"""Topics: their names, where an event knows them by their ids alone.

A client that learned an id before the proxy did reads by it, and its events have no name. Other events of the same
journal have both. A topic has its id for life, so that the name is right for all of them.

Rules:
* Most journals have a name for every topic. That is found out in one pass, and then nothing else is done.
* So many ids are looked up as a page could still explain. Those whose name no event says stay as they are, and are
  counted: the page says so.
"""

from __future__ import annotations

import json
from functools import cached_property

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

MOST = 10_000  # ids


class TopicsById:
    """The names of those topics that some of `period` know by their ids alone, as `all_events` have them."""

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
        """The events with the names that are known."""
        if not self._names:
            return events
        names = F.from_json(F.lit(json.dumps(self._names)), "MAP<STRING, STRING>")

        def named(one: Column) -> Column:
            return F.when(_is_unnamed(one), one.withField("name", F.try_element_at(names, one["id"]))).otherwise(one)

        resources = F.when(_any_unnamed(), F.transform("resources", named)).otherwise(F.col("resources"))
        return events.withColumn("resources", resources)

    def unnamed(self, events: DataFrame) -> int:
        """How many of these events are about a topic that has no name even so."""
        return events.where(_any_unnamed()).count() if self._ids else 0


def _is_unnamed(resource: Column) -> Column:
    return (resource["type"] == "topic") & resource["name"].isNull() & resource["id"].isNotNull()


def _any_unnamed() -> Column:
    return F.coalesce(F.exists("resources", _is_unnamed), F.lit(False))
