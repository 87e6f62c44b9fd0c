"""Replaced filters: filters that are no longer in force, but that links may still use.

Rules:
* They count requests until their last link has left them.
* Then they are dropped. Their counts are kept: the numbers of a worker never fall.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from weakref import ref

from proxy.core.filter_chain import Lease
from proxy.core.filters import Filters


class ReplacedFilters:
    """The replaced filters of one worker."""

    def __init__(self) -> None:
        self._filters: list[Filters] = []
        self._counted: Counter[str] = Counter()  # the counts of those that were dropped

    @property
    def leases(self) -> Sequence[ref[Lease]]:
        """For each of them, a reference that is dead once it is no longer in use."""
        return [filters.lease for filters in self._filters]

    def replace(self, before: Iterable[Filters], in_force: Iterable[Filters]) -> None:
        """Keep those from before that are not in force now."""
        staying = set(in_force)
        self._filters += [filters for filters in before if filters not in staying]

    def let_go(self, in_use: Collection[Filters]) -> None:
        """Drop those that are not in use, and keep their counts."""
        for filters in [each for each in self._filters if each not in in_use]:
            self._filters.remove(filters)
            self._counted.update(_counts(filters))

    def counted(self, in_force: Iterable[Filters]) -> Counter[str]:
        """How many requests of each API were counted, those of the filters in force included."""
        counted = self._counted.copy()
        for filters in (*self._filters, *in_force):
            counted.update(_counts(filters))
        return counted


def _counts(filters: Filters) -> Counter[str]:
    counts: Counter[str] = Counter()
    for (api, _), count in filters.counts().items():
        counts[f"requests_{api}"] += count
    return counts
