"""A report: a question about the journal, the table that answers it, and the controls for which it is evidence.

Rules:
* A report is declared once, in `catalogue/`, one module for each. The page, the CSV, the Parquet file, the list in
  README.md and the tests are all made from that declaration.
* `rows` gives the declared columns and no others, with rows in any order. `ordered` sorts them in a total order, so
  that the same journal gives the same bytes everywhere.
* Sums are whole numbers: sums of fractions depend on the order in which machines add.
* Importing a report needs no Spark; `rows` imports it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
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
# Columns with names in them, and the kinds of these names as in rules of redaction.
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
    """A column of a report's table. `unit` is empty if the values have none."""

    name: str
    type: str
    meaning: str
    unit: str = ""

    def __post_init__(self) -> None:
        assert self.type in TYPES, f"{self.name}: a table has no {self.type}"


@dataclass(frozen=True)
class Control:
    """One row of a framework of controls, and the evidence for it in the report."""

    framework: str  # "PCI DSS 4.0"
    row: str  # "10.2.1.2"
    evidence: str


class ChartKind(Enum):
    """What a chart looks like."""

    BARS = "bars"  # a bar for each x, the largest y first
    LINES = "lines"  # y over x, which is time; a line for each `by`
    HEAT = "heat"  # x by `by`; a larger y is darker


@dataclass(frozen=True)
class Chart:
    """A picture of a report's rows: `y`, which is summed, for each `x`. All three name columns."""

    title: str
    kind: ChartKind
    x: str
    y: str
    by: str | None = None


def some(many: int, noun: str) -> str:
    """A number with its noun, for a sentence: "1 user", "2,000 users"."""
    return f"{many:,} {noun}" if many == 1 else f"{many:,} {noun}s"


def users(rows: Iterable[Row]) -> str:
    """The users in these rows, in words. Clients without a name may be several, or may be some of the users."""
    names = {row["principal"] for row in rows}
    nameless = ["clients without a name"] if None in names else []
    known = len(names - {None})
    return " and ".join([some(known, "user")] * (known > 0 or not nameless) + nameless)


class CannotTellError(Exception):
    """A report cannot be made of this journal. The text says why, and a way out."""


class Scope(Enum):
    """The events from which a report is made."""

    FILTERED = "filtered"  # of the period, filtered by principals and topics
    PERIOD = "period"  # of the period, without the filters
    AROUND = "around"  # of the period, and an hour before and after it: events are written later than they happen
    HISTORY = "history"  # up to the end of the period, as far back as the journal goes; filtered

    @property
    def is_of_all(self) -> bool:
        """Whether the filters by principal and topic are ignored."""
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
    summary: Callable[[Sequence[Row], int], str]  # a sentence or two, of the first rows and their total number
    explanation: str = ""  # what a reader must know to read the table
    charts: tuple[Chart, ...] = ()
    scope: Scope = Scope.FILTERED
    further: tuple[str, ...] = ()  # the names of more files that it may have
    needs: str = ""  # the name of the input without which it has no rows: "rules", "tags"
    files: Callable[[Sequence[Row], Inputs], Mapping[str, str]] | None = None  # the texts of these, from all rows
    compares: tuple[str, ...] = ()  # kinds of names that it compares with names from other sources

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
        """The kinds of names in its table, as in rules of redaction."""
        return frozenset(kind for name in self.names for kind in NAMED.get(name, ()))

    @property
    def ddl(self) -> str:
        """Its columns as Spark reads them."""
        return ", ".join(f"`{column.name}` {column.type}" for column in self.columns)

    @property
    def sorting(self) -> tuple[tuple[str, bool], ...]:
        """Every column, and whether it is descending, in the order of sorting."""
        said = [(name.removeprefix("-"), name.startswith("-")) for name in self.order]
        return (*said, *((name, False) for name in self.names if name not in dict(said)))


def ordered(frame: DataFrame, report: AuditReport) -> DataFrame:
    """The rows of a report in their order, in one partition. Null comes first, or last in a descending column.

    A table for people is small. In one partition it is sorted without another pass over the rows.
    """
    from pyspark.sql import functions as F

    return (
        frame.select(*report.names)
        .repartition(1)
        .sortWithinPartitions(
            *(F.col(name).desc() if descending else F.col(name).asc() for name, descending in report.sorting)
        )
    )
