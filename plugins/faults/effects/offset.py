"""Offset: an answer has false offsets.

Rules:
* The effect on a client depends on the API: where a partition begins and ends (ListOffsets), how far its group has read
  (OffsetFetch), where an epoch ended, and so where the log was truncated (OffsetForLeaderEpoch), where its records were
  written (Produce), and how far behind it is (Fetch: the high watermark and the last stable offset).
* `none` is -1: a group without commits, or a partition without such an offset.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

from pydantic import Field, PlainValidator

from plugins.faults.effect import Target
from plugins.faults.kinds import PartsEffect
from proxy.plugin import (
    FETCH,
    LIST_OFFSETS,
    OFFSET_FETCH,
    OFFSET_FOR_LEADER_EPOCH,
    PRODUCE,
    Decision,
    Forward,
    wrong,
)
from proxy.plugin.files import shown
from rules.trigger import Firing

SAID = {
    FETCH: ("high_watermark", "last_stable_offset"),
    LIST_OFFSETS: ("offset",),
    OFFSET_FETCH: ("committed_offset",),
    OFFSET_FOR_LEADER_EPOCH: ("end_offset",),
    PRODUCE: ("base_offset",),
}
NONE, NO_OFFSET = "none", -1
FURTHEST = 2**62


def shift(value: object) -> int | None:
    """Read the shift of an offset; None: there is to be no offset."""
    if value == NONE:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not value or abs(value) > FURTHEST:
        raise wrong(f"{shown(value)} shifts no offset", "write e.g. -100 or none")
    return value


class FalseOffset(PartsEffect):
    """Change the offsets of partitions that match."""

    apis: ClassVar = frozenset(SAID)
    nothing: ClassVar = "the answer says no offset that is meant and could be changed"

    by: Annotated[int | None, PlainValidator(shift)] = Field(
        description="How far they are off, or that there is none.", examples=["-100"]
    )

    def apply(self, target: Target, firing: Firing) -> Decision:
        for partition, name in list(self.parts(target)):
            setattr(partition, name, self._told(getattr(partition, name)))
        return Forward(target.message)

    def _told(self, offset: int) -> int:
        return NO_OFFSET if self.by is None else min(max(offset + self.by, 0), 2**63 - 1)

    def parts(self, target: Target) -> Iterator[tuple[Any, str]]:
        for partition in target.structs("partition"):
            for name in SAID[target.ctx.api]:
                if not partition.has(name) or partition.error_code:
                    continue
                offset = getattr(partition, name)
                if offset != NO_OFFSET and self._told(offset) != offset:
                    yield partition, name
