"""Expressions that several reports use: what a request is about, and how an amount is told.

They are Spark's own: no row passes through Python.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

REFUSED = "_AUTHORIZATION_FAILED"  # how the errors of what is not allowed end
READS = ("Fetch", "ShareFetch")
WRITES = ("Produce",)
OF_RECORDS = ("records", "bytes", "first_offset", "last_offset", "first_timestamp", "last_timestamp")


def resources(events: DataFrame, *columns: str, outer: bool = False) -> DataFrame:
    """A row for each resource of each request, as `resource`, with these columns of its event.

    `resource.times`: to how many requests it happened that are alike in this, which a summary tells together: those
    with `resource.error`, or those that did not fail. `since`, `until`: when. `outer`: a request without resources has
    a row, too.
    """
    from pyspark.sql import functions as F

    of = events.where(F.col("kind").isin("request", "summary"))
    explode = F.explode_outer if outer else F.explode
    since, until = (F.coalesce(name, "time") for name in ("window_from", "window_to"))
    rows = of.select(
        *columns,
        since.alias("since"),
        until.alias("until"),
        explode(F.flatten(F.transform("resources", _told_apart))).alias("resource"),
    )
    return rows.where(F.col("resource").isNull() | (F.col("resource")["times"] > 0))


def _told_apart(resource: Column) -> Column:
    """What happened to a resource: where it did not fail, or in its one request; and for each error of a summary."""
    from pyspark.sql import functions as F

    def told(of_it: Mapping[str, Column]) -> Column:
        known = {name: resource[name] for name in ("type", "name", "id", "partition")}
        return F.struct(*(column.alias(name) for name, column in (known | dict(of_it)).items()))

    nothing = F.lit(None).cast("bigint")
    failures = resource["failures"]
    failed = F.aggregate(failures, F.lit(0).cast("bigint"), lambda sum_, one: sum_ + one["requests"])
    times = F.coalesce(resource["requests"], F.lit(1).cast("bigint")) - F.coalesce(failed, F.lit(0))
    well = told({"error": resource["error"], "times": times, **{name: resource[name] for name in OF_RECORDS}})
    badly = F.transform(
        failures,
        lambda one: told({"error": one["error"], "times": one["requests"], **dict.fromkeys(OF_RECORDS, nothing)}),
    )
    return F.when(failures.isNull(), F.array(well)).otherwise(F.concat(F.array(well), badly))


def is_refused(error: Column) -> Column:
    """Does the error say that something is not allowed?"""
    from pyspark.sql import functions as F

    return F.coalesce(error.endswith(REFUSED), F.lit(False))


def total(amount: Column) -> Column:
    """The sum; 0 where nothing is known."""
    from pyspark.sql import functions as F

    return F.coalesce(F.sum(amount), F.lit(0)).cast("bigint")


def requests(condition: Column) -> Column:
    """To how many requests about a `resource` it happened that this holds for."""
    from pyspark.sql import functions as F

    return total(F.when(condition, F.col("resource")["times"]))


def asked(events: DataFrame) -> DataFrame:
    """Requests, and summaries of several; `times`: how many requests an event stands for. `since`, `until`: when."""
    from pyspark.sql import functions as F

    return events.where(F.col("kind").isin("request", "summary")).withColumns(
        {
            "times": F.coalesce("requests", F.lit(1)),
            "since": F.coalesce("window_from", "time"),
            "until": F.coalesce("window_to", "time"),
        }
    )


def weighed(condition: Column) -> Column:
    """How many requests there are for which it holds, of rows of `asked`."""
    from pyspark.sql import functions as F

    return total(F.when(condition, F.col("times")))


def times(condition: Column) -> Column:
    """For how many rows it holds."""
    from pyspark.sql import functions as F

    return F.count(F.when(condition, 1))


BURST = 5  # of the same within five minutes


def within_minutes(*alike: str) -> Column:
    """How many rows that are alike came in the five minutes up to this one."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    five = Window.partitionBy(*alike).orderBy(F.unix_micros("time")).rangeBetween(-5 * 60 * 1_000_000, 0)
    return F.count("*").over(five)
