"""Records: those of the partitions that a fault is about, in a request or an answer, and how their batches change.

# Only whole batches are changed. A last one that breaks off stays as it is, and so does what cannot be read.
# Control batches are the broker's own: markers of transactions are never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pydantic import Field

from plugins.faults.about import RECORDS_LEVEL
from plugins.faults.effect import FaultSide, Target
from plugins.faults.kinds import SidedEffect
from proxy.plugin import (
    FETCH,
    PRODUCE,
    SHARE_FETCH,
    Api,
    Decision,
    Forward,
    MessageSet,
    ProtocolError,
    RecordBatch,
    batches,
    turn,
)
from rules.trigger import Firing

Batch = RecordBatch | MessageSet
PRODUCING = frozenset({PRODUCE})
FETCHING = frozenset({FETCH, SHARE_FETCH})


class RecordsEffect(SidedEffect):
    """The base of effects on batches of records, each for itself: produced or fetched ones."""

    side: FaultSide = Field(
        default=FaultSide.AFTER_BROKER, description="What is produced, or what is fetched.", examples=["after_broker"]
    )

    @property
    def apis(self) -> frozenset[Api]:
        return PRODUCING if self.side is FaultSide.BEFORE_BROKER else FETCHING

    def problems(self, apis: frozenset[Api]) -> Iterator[tuple[str, str]]:
        if not apis & self.apis:
            named, before = ", ".join(sorted(api.name for api in apis)), self.side is FaultSide.BEFORE_BROKER
            yield "side", f"no {'request' if before else 'answer'} of {named} has records; name another api or side"

    def cannot(self, target: Target) -> str | None:
        found = list(holders(target, self.side))
        if not found:
            return "it has no records"
        fits = any(self.fits(batch) for holder in found for batch in readable(holder.records))
        return None if fits else "it has no batch to which this could be done"

    def apply(self, target: Target, firing: Firing) -> Decision:
        for holder in holders(target, self.side):
            holder.records = rewritten(holder.records, lambda it: self.changed(it) if self.fits(it) else None)
        return Forward(target.message)

    def fits(self, batch: Batch) -> bool:
        """Whether it can be done to this."""
        return isinstance(batch, RecordBatch) and not batch.is_control

    def changed(self, batch: Any) -> bytes:
        """The batch as it is instead."""
        raise NotImplementedError


def holders(target: Target, side: FaultSide) -> Iterator[Any]:
    """The partitions that are meant, as far as they have records."""
    found: Iterator[Any]
    if side is FaultSide.BEFORE_BROKER:
        found = (thing.array.elements[thing.position] for thing in target.meant if thing.array is not None)
    else:
        found = target.structs(RECORDS_LEVEL)
    return (it for it in found if getattr(it, "records", None))


def readable(records: bytes | memoryview) -> Iterator[Batch]:
    """The batches, up to where these bytes are none."""
    try:
        for batch in batches(records, partial=True):
            turn()
            yield batch
    except ProtocolError:
        return  # somebody sent it so, and gets it so


def rewritten(records: bytes | memoryview, change: Callable[[Batch], bytes | None]) -> bytes:
    """These records, each batch as `change` has it; None leaves it as it is."""
    pieces: list[bytes | memoryview] = []
    end = 0
    for batch in readable(records):
        pieces.append(change(batch) or batch.data)
        end += len(batch.data)
    return b"".join([*pieces, memoryview(records)[end:]])
