"""Records: effects on the batches of the partitions that a fault is about, in a request or an answer.

Rules:
* Only complete batches are changed. A last batch that breaks off stays as it is, and so do bytes that cannot be read.
* Control batches, the markers of transactions, belong to the broker and are never changed.
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
    """The base of effects that change single batches of records, produced or fetched ones."""

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
        found = list(with_records(target, self.side))
        if not found:
            return "it has no records"
        fits = any(self.fits(batch) for holder in found for batch in readable(holder.records))
        return None if fits else "it has no batch to which this could be done"

    def apply(self, target: Target, firing: Firing) -> Decision:
        for holder in with_records(target, self.side):
            holder.records = rewritten(holder.records, lambda it: self.changed(it) if self.fits(it) else None)
        return Forward(target.message)

    def fits(self, batch: Batch) -> bool:
        """Whether the effect can be applied to this batch."""
        return isinstance(batch, RecordBatch) and not batch.is_control

    def changed(self, batch: Any) -> bytes:
        """The bytes of the changed batch."""
        raise NotImplementedError


def with_records(target: Target, side: FaultSide) -> Iterator[Any]:
    """The partitions that match and have records."""
    found: Iterator[Any]
    if side is FaultSide.BEFORE_BROKER:
        found = (thing.array.elements[thing.position] for thing in target.meant if thing.array is not None)
    else:
        found = target.structs(RECORDS_LEVEL)
    return (it for it in found if getattr(it, "records", None))


def readable(records: bytes | memoryview) -> Iterator[Batch]:
    """The batches, up to bytes that cannot be read as one."""
    try:
        for batch in batches(records, partial=True):
            turn()
            yield batch
    except ProtocolError:
        return  # unreadable bytes are passed on as they came


def rewritten(records: bytes | memoryview, change: Callable[[Batch], bytes | None]) -> bytes:
    """These records with each batch replaced by what `change` returns; None leaves the batch as it is."""
    changed = bytearray()  # a list of very many pieces would be joined, and freed, in one go
    end = 0
    for batch in readable(records):
        changed += change(batch) or batch.data
        end += len(batch.data)
    changed += memoryview(records)[end:]
    return bytes(changed)
