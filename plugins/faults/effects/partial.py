"""Partial: a fetch returns fewer records than there are, as from brokers with too many partitions to read at once.

Rules:
* `partitions`: at most so many partitions have records. `batches`: each partition has at most so many batches. `bytes`:
  each has at most so many bytes, so that the last batch may break off.
* A consumer fetches the rest later, and loses nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

from pydantic import Field, StrictInt

from plugins.faults.effect import Target
from plugins.faults.kinds import AnswerEffect
from plugins.faults.records import FETCHING, readable, with_records
from proxy.plugin import Api, Decision, Forward
from rules.trigger import Firing
from rules.values import Given

OPTIONS = ("partitions", "batches", "bytes")


class PartialFetch(AnswerEffect):
    """Leave some of the records out of an answer."""

    apis: ClassVar = FETCHING

    partitions: Given[Annotated[StrictInt, Field(ge=1)]] = Field(
        default=None, description="So many partitions bring records.", examples=["1"]
    )
    batches: Given[Annotated[StrictInt, Field(ge=1)]] = Field(
        default=None, description="A partition brings so many batches.", examples=["1"]
    )
    bytes: Given[Annotated[StrictInt, Field(ge=1)]] = Field(
        default=None, description="A partition brings so many bytes.", examples=["100"]
    )

    def problems(self, apis: frozenset[Api]) -> Iterator[tuple[str, str]]:
        said = [name for name in OPTIONS if getattr(self, name) is not None]
        if not said:
            yield "", f'it does not say how much is left; say one of {", ".join(OPTIONS)}, e.g. "batches: 1"'
        for name in said[1:]:
            yield name, f'"{said[0]}" and "{name}" both say how much is left; keep one of the two'

    def cannot(self, target: Target) -> str | None:
        found = list(with_records(target, self.at))
        left = self._left(found)
        return None if any(len(it.records) > size for it, size in left) else "it has no more than would be left"

    def apply(self, target: Target, firing: Firing) -> Decision:
        for holder, size in self._left(list(with_records(target, self.at))):
            holder.records = memoryview(holder.records)[:size]
        return Forward(target.message)

    def _left(self, found: list[Any]) -> list[tuple[Any, int]]:
        """The partitions, each with the number of bytes that are left."""
        if self.partitions is not None:
            return [(it, len(it.records) if at < self.partitions else 0) for at, it in enumerate(found)]
        return [(it, self._size(it.records)) for it in found]

    def _size(self, records: Any) -> int:
        if self.batches is None:
            return min(self.bytes or 0, len(records))
        sizes = [len(it.data) for it in readable(records)]
        return sum(sizes[: self.batches]) if len(sizes) > self.batches else len(records)
