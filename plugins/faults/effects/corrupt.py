"""Corrupt: records whose checksum does not fit.

Before the broker it is the broker that must notice, and after it the consumer. Of requests and answers without records
there is nothing to corrupt.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import Field

from plugins.faults.about import RECORDS_LEVEL
from plugins.faults.effect import Effect, FaultSide, Target
from proxy.plugin import Api, Decision, Forward, Meaning, MessageSet, batches, leading
from rules.trigger import Firing

CRC_AT = 17  # in a batch
CRC_OF_MESSAGE_AT = 12  # in a message of magic 0 or 1


class CorruptRecords(Effect):
    """Change a byte of the checksum of every batch."""

    side: FaultSide = Field(
        default=FaultSide.AFTER_BROKER, description="What is produced, or what is fetched.", examples=["after_broker"]
    )

    @property
    def at(self) -> FaultSide:
        return self.side

    def problems(self, apis: frozenset[Api]) -> Iterator[tuple[str, str]]:
        before = self.side is FaultSide.BEFORE_BROKER
        if not any(leading(api.request if before else api.response, Meaning.RECORDS) for api in apis):
            named = ", ".join(sorted(api.name for api in apis))
            yield "side", f"no {'request' if before else 'answer'} of {named} has records; name another api or side"

    def cannot(self, target: Target) -> str | None:
        return None if any(True for _ in self._holders(target)) else "it has no records"

    def apply(self, target: Target, firing: Firing) -> Decision:
        for holder in self._holders(target):
            holder.records = corrupted(holder.records)
        return Forward(target.message)

    def _holders(self, target: Target) -> Iterator[Any]:
        """The partitions that are meant, as far as they have records."""
        found: Iterator[Any]
        if self.side is FaultSide.BEFORE_BROKER:
            found = (thing.array.elements[thing.position] for thing in target.meant if thing.array is not None)
        else:
            found = target.structs(RECORDS_LEVEL)
        return (it for it in found if getattr(it, "records", None))


def corrupted(records: bytes | memoryview) -> bytes:
    """These records, each batch with another checksum."""
    changed = bytearray(records)
    position = 0
    for batch in batches(records, partial=True):
        at = CRC_OF_MESSAGE_AT if isinstance(batch, MessageSet) else CRC_AT
        changed[position + at] ^= 0xFF
        position += len(batch.data)
    return bytes(changed)
