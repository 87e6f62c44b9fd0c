"""What a report is: a question about the journal, the table that answers it, and which controls it is evidence for.

Rules:
* A report is declared once, in `catalogue/`, one module a report. The page, the CSV, the Parquet file, the list in
  README.md and the tests all come from that declaration.
* `rows` gives the declared columns and no others, in any order. `ordered` makes that a total order, so that the same
  journal gives the same bytes wherever it is read.
* Sums are whole numbers: those of fractions depend on the order in which machines add.
* Importing a report needs no Spark; `rows` imports it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from plugins.audit.reports.inputs import Inputs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TYPES = ("STRING", "BIGINT", "INT", "BOOLEAN", "TIMESTAMP", "DATE")
Row = Mapping[str, Any]
WHO = "principal"
RESOURCES = ("topic", "group", "transactional_id")
# Columns with names in them, and the kinds of names as rules of redaction say them.
NAMED = {
    **dict.fromkeys(("principal", "producer", "consumer", "users", "claimed", "acl"), (WHO,)),
    **dict.fromkeys(("client_host", "client_hosts", "host", "hosts"), ("client_host",)),
    **dict.fromkeys(("resource_name", "resource_pattern", "key"), RESOURCES),
    "name": (WHO, "client_host", "client_id", *RESOURCES),
    "client_id": ("client_id",),
    "topic": ("topic",),
    "certificates": ("tls_subject",),
}


@dataclass(frozen=True)
class ReportColumn:
    """A column of a report's table. `unit` is empty where the values have none."""

    name: str
    type: str
    meaning: str
    unit: str = ""

    def __post_init__(self) -> None:
        assert self.type in TYPES, f"{self.name}: a table has no {self.type}"


@dataclass(frozen=True)
class Control:
    """One row of a framework of controls, and what of it the report shows."""

    framework: str  # "PCI DSS 4.0"
    row: str  # "10.2.1.2"
    evidence: str


class ChartKind(Enum):
    """What a chart looks like."""

    BARS = "bars"  # of each x: the largest y first
    LINES = "lines"  # y along x, which is time; a line for each `by`
    HEAT = "heat"  # x by `by`, the darker the more y


@dataclass(frozen=True)
class Chart:
    """A picture of a report's rows: `y`, which is summed, for each `x`. All three name columns."""

    title: str
    kind: ChartKind
    x: str
    y: str
    by: str | None = None


def some(many: int, noun: str) -> str:
    """So many of them, in words for a sentence: "1 user", "2,000 users"."""
    return f"{many:,} {noun}" if many == 1 else f"{many:,} {noun}s"


class CannotTellError(Exception):
    """A report that cannot be made of this journal: why, and a way out."""


class Scope(Enum):
    """Which events a report is made of."""

    FILTERED = "filtered"  # of the period, of the principals and topics that were asked for
    PERIOD = "period"  # of the period, whatever else was asked for
    AROUND = "around"  # the same, and an hour before and after it: events are written a little later than they happen
    HISTORY = "history"  # up to the end of the period, as far back as the journal goes; filtered

    @property
    def is_of_all(self) -> bool:
        """Are principals and topics of no matter, whichever were asked for?"""
        return self in (Scope.PERIOD, Scope.AROUND)


@dataclass(frozen=True)
class AuditReport:
    """One report. `name` names it on the command line, its files and its place in the page."""

    name: str
    title: str
    question: str  # in the words of a person who does not know Kafka
    columns: tuple[ReportColumn, ...]
    order: tuple[str, ...]  # columns by which rows are sorted first; "-bytes" is descending. The others follow
    controls: tuple[Control, ...]
    rows: Callable[[DataFrame, Inputs], DataFrame]
    summary: Callable[[Sequence[Row], int], str]  # of the first rows, and how many there are: a sentence or two
    explanation: str = ""  # what one must know to read the table
    charts: tuple[Chart, ...] = ()
    scope: Scope = Scope.FILTERED
    further: tuple[str, ...] = ()  # the names of more files that it may have
    needs: str = ""  # the name of the input without which it has no rows: "rules", "tags"
    files: Callable[[Sequence[Row], Inputs], Mapping[str, str]] | None = None  # those, made of all rows
    compares: tuple[str, ...] = ()  # kinds of names that it compares with names from elsewhere

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of all files that it may have."""
        return (f"{self.name}.csv", f"{self.name}.parquet", *self.further)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(column.name for column in self.columns)

    @property
    def kinds_of_names(self) -> frozenset[str]:
        """Which kinds of names it tells, as rules of redaction say them."""
        return frozenset(kind for name in self.names for kind in NAMED.get(name, ()))

    @property
    def ddl(self) -> str:
        """Its columns as Spark reads them."""
        return ", ".join(f"`{column.name}` {column.type}" for column in self.columns)

    @property
    def sorting(self) -> tuple[tuple[str, bool], ...]:
        """Every column, and whether it is descending, in the order in which they sort."""
        said = [(name.removeprefix("-"), name.startswith("-")) for name in self.order]
        return (*said, *((name, False) for name in self.names if name not in dict(said)))


def ordered(frame: DataFrame, report: AuditReport) -> DataFrame:
    """The rows of a report in their order, in one part. What is null comes first, or last where it is descending.

    A table for people is small: what is in one part needs no other look at the rows to be sorted.
    """
    from pyspark.sql import functions as F

    return (
        frame.select(*report.names)
        .repartition(1)
        .sortWithinPartitions(
            *(F.col(name).desc() if descending else F.col(name).asc() for name, descending in report.sorting)
        )
    )
