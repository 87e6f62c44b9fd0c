"""Anomalies: observations in a history that a log must not allow, each with the shortest evidence.

They have the names of Jepsen's Kafka workload (https://jepsen.io/analyses/redpanda-21.10.1). Two of that workload are
left out. G0: Kafka lets the records of two transactions have any order in two partitions. G1c, a cycle of transactions
that read each other's records: one of its reads came before a commit, and is reported as a precommitted read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

SHOWN = 3  # anomalies of each kind, in a text about all


class AnomalyKind(Enum):
    """What can go wrong. The value is its name for people."""

    LOST_WRITE = "lost write"  # acknowledged; readers went past it, and none of them read it
    UNSEEN = "unseen"  # acknowledged, and no reader came that far
    DUPLICATE = "duplicate"  # one value at two places
    INCONSISTENT_OFFSET = "inconsistent offset"  # two values at one place: the acknowledged or read one is gone
    NONMONOTONIC_SEND = "nonmonotonic send"  # a client's records are in another order than it sent them
    NONMONOTONIC_POLL = "nonmonotonic poll"  # a client read backwards without a seek
    POLL_SKIP = "poll skip"  # a client went past a record that others read
    ABORTED_READ = "aborted read"  # read, though its transaction was aborted or its send failed (G1a)
    PRECOMMITTED_READ = "precommitted read"  # read before its transaction was committed
    UNSENT = "unsent"  # read, and no client sent it
    COMMITTED_PAST = "committed past"  # a group committed an offset before it had read all below


class Anomaly(NamedTuple):
    """One anomaly: its place, and the few notes of the history that show it, in their order."""

    kind: AnomalyKind
    place: str
    evidence: tuple[str, ...]

    @classmethod
    def at(cls, kind: AnomalyKind, place: object, *evidence: object) -> Anomaly:
        """An anomaly at this place, shown by this evidence."""
        return cls(kind, str(place), tuple(map(str, evidence)))

    def __str__(self) -> str:
        return "\n".join((f"{self.kind.value}: {self.place}", *(f"    {line}" for line in self.evidence)))


class Anomalies:
    """All anomalies of a history; false when there is none."""

    def __init__(self, found: Iterable[Anomaly] = ()) -> None:
        self._found = tuple(found)

    def __iter__(self) -> Iterator[Anomaly]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def of(self, kind: AnomalyKind) -> Anomalies:
        """The anomalies of one kind."""
        return Anomalies(anomaly for anomaly in self if anomaly.kind is kind)

    def without(self, *kinds: AnomalyKind) -> Anomalies:
        """The anomalies of all other kinds."""
        return Anomalies(anomaly for anomaly in self if anomaly.kind not in kinds)

    @property
    def kinds(self) -> set[AnomalyKind]:
        """The kinds that were found."""
        return {anomaly.kind for anomaly in self}

    def __str__(self) -> str:
        """How many of each kind, and the first few of each."""
        counts = Counter(anomaly.kind for anomaly in self)
        if not counts:
            return "no anomalies"
        lines = [", ".join(f"{count} x {kind.value}" for kind, count in counts.items())]
        for kind, count in counts.items():
            lines += map(str, list(self.of(kind))[:SHOWN])
            if count > SHOWN:
                lines.append(f"... and {count - SHOWN} more of {kind.value}")
        return "\n".join(lines)

    __repr__ = __str__
