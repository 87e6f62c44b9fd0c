"""Expressions of Spark that several reports use: the resources of requests, sums and counts.

They run inside Spark: no row passes through Python.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

CHAIN = ("instance", "worker")  # these columns tell the chains of events apart
REFUSED = "_AUTHORIZATION_FAILED"  # the end of the names of authorization errors
READS = ("Fetch", "ShareFetch")
WRITES = ("Produce",)
OF_RECORDS = ("records", "bytes", "first_offset", "last_offset", "first_timestamp", "last_timestamp")


def resources(events: DataFrame, *columns: str, outer: bool = False) -> DataFrame:
    """A row for each resource of each request, as `resource`, with these columns of its event.

    `resource.times`: the number of requests that the row stands for. A summary gives one row for its requests that did
    not fail, and one for each `resource.error`. `since`, `until`: when. `outer`: a request without resources has a row,
    too.
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
    """A resource as an array: one element for its request, or for those that did not fail, and one for each error."""
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
    """Whether the error is one of authorization."""
    from pyspark.sql import functions as F

    return F.coalesce(error.endswith(REFUSED), F.lit(False))


def total(amount: Column) -> Column:
    """The sum; 0 if all values are null."""
    from pyspark.sql import functions as F

    return F.coalesce(F.sum(amount), F.lit(0)).cast("bigint")


def requests(condition: Column) -> Column:
    """The number of requests about a `resource` for which the condition holds."""
    from pyspark.sql import functions as F

    return total(F.when(condition, F.col("resource")["times"]))


def asked(events: DataFrame) -> DataFrame:
    """Events of requests and summaries. `times`: the number of requests of an event. `since`, `until`: when."""
    from pyspark.sql import functions as F

    return events.where(F.col("kind").isin("request", "summary")).withColumns(
        {
            "times": F.coalesce("requests", F.lit(1)),
            "since": F.coalesce("window_from", "time"),
            "until": F.coalesce("window_to", "time"),
        }
    )


def weighed(condition: Column) -> Column:
    """The number of requests for which the condition holds, over rows of `asked`."""
    from pyspark.sql import functions as F

    return total(F.when(condition, F.col("times")))


def times(condition: Column) -> Column:
    """The number of rows for which the condition holds."""
    from pyspark.sql import functions as F

    return F.count(F.when(condition, 1))


def is_anonymous() -> Column:
    """Whether nobody asked the client who it is. To the rules it is ANONYMOUS; a name that is redacted is not known."""
    from pyspark.sql import functions as F

    is_redacted = F.coalesce(F.array_contains("redacted", "principal"), F.lit(False))
    return F.isnull("principal") & F.isnull("mechanism") & ~is_redacted


BURST = 5  # equal events within five minutes


def within_minutes(*alike: str) -> Column:
    """The number of rows with equal `alike` columns in the five minutes up to this one."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    five = Window.partitionBy(*alike).orderBy(F.unix_micros("time")).rangeBetween(-5 * 60 * 1_000_000, 0)
    return F.count("*").over(five)
