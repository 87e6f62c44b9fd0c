"""Batches: a fetch returns batches otherwise than they are in the log.

Rules:
* `dropped`: one is left out, as if the log had lost it. The offsets have a gap, which consumers take for the effect of
  compaction. `reordered`: two neighbours are swapped. `repeated`: one comes twice. Chance selects the batch.
* A batch is left out only where another follows: a consumer would fetch the last one again.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import ClassVar

from pydantic import Field

from plugins.faults.effect import Target
from plugins.faults.kinds import AnswerEffect
from plugins.faults.records import FETCHING, readable, with_records
from proxy.plugin import Decision, Forward, MessageSet, RecordBatch
from rules.trigger import Firing


class Misplaced(Enum):
    """What is done to a batch."""

    DROPPED = "dropped"
    REORDERED = "reordered"
    REPEATED = "repeated"


class MisplacedBatches(AnswerEffect):
    """Leave one batch of each partition out, bring it too early, or twice."""

    apis: ClassVar = FETCHING

    what: Misplaced = Field(description="What is done to one of them.", examples=["dropped"])

    def cannot(self, target: Target) -> str | None:
        found = list(with_records(target, self.at))
        if not found:
            return "it has no records"
        if any(self._places(list(readable(it.records))) for it in found):
            return None
        return "it has no batch" if self.what is Misplaced.REPEATED else "it has no two batches in one partition"

    def apply(self, target: Target, firing: Firing) -> Decision:
        for holder in with_records(target, self.at):
            pieces = [it.data for it in readable(holder.records)]
            left = memoryview(holder.records)[sum(map(len, pieces)) :]
            places = self._places(list(readable(holder.records)))
            if places:
                at = places[int(firing.chance("place") * len(places))]
                match self.what:
                    case Misplaced.DROPPED:
                        del pieces[at]
                    case Misplaced.REORDERED:
                        pieces[at : at + 2] = reversed(pieces[at : at + 2])
                    case Misplaced.REPEATED:
                        pieces.insert(at, pieces[at])
                holder.records = b"".join([*pieces, left])
        return Forward(target.message)

    def _places(self, found: list[RecordBatch | MessageSet]) -> list[int]:
        """The places of batches to which it may be applied."""
        return list(_data(found if self.what is Misplaced.REPEATED else found[:-1]))


def _data(found: list[RecordBatch | MessageSet]) -> Iterator[int]:
    """The places of batches that are no markers of transactions."""
    return (at for at, it in enumerate(found) if not (isinstance(it, RecordBatch) and it.is_control))
