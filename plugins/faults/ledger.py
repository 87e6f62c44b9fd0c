"""The ledger: what faults did, and their near misses.

Rules:
* It has every match: those that fired, those that did not fire at that time, and those where the effect could not be
  applied. Of each fault it has a few near misses: requests of the right kind that were about something else.
* Memory is bounded: the last entries are kept, and for each fault the number of entries of each kind.
* It may be read at any time, from any thread.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterator
from enum import Enum
from itertools import islice
from typing import NamedTuple

KEPT = 10_000  # entries
FORGOTTEN = 1_000  # removed faults whose last counts may still be queried


class Result(Enum):
    """What happened when a fault was tried on a request or a connection."""

    FIRED = "fired"
    NOT_NOW = "matched, not now"
    CANNOT = "matched, cannot be applied"
    NEAR_MISS = "near miss"


class NotedRequest(NamedTuple):
    """The request of an entry."""

    api: str
    version: int
    correlation_id: int
    connection: int  # its number
    client_id: str | None = None

    def __str__(self) -> str:
        return f"{self.api} v{self.version} #{self.correlation_id}"


class LedgerEntry(NamedTuple):
    """One entry. `at`: seconds since 1970. At a new connection there is no request yet.

    `why`: the reason why it did not fire; if it did, the effect.
    """

    at: float
    fault: str
    result: Result
    why: str
    client: str
    broker: int | None
    request: NotedRequest | None = None
    match: int | None = None  # its number among the matches that counted

    def __str__(self) -> str:
        about = f"{self.request} of {self.client}" if self.request else f"a connection of {self.client}"
        broker = "" if self.broker is None else f" to broker {self.broker}"
        number = "" if self.match is None else f" at match {self.match}"
        return f"{self.fault}: {self.result.value}{number}: {about}{broker}" + (f": {self.why}" if self.why else "")


class Ledger:
    """The entries and counts of the faults in force, and of earlier ones."""

    def __init__(self, kept: int = KEPT) -> None:
        self._entries: deque[tuple[int, LedgerEntry]] = deque(maxlen=kept)
        self._counts: Counter[tuple[str, Result]] = Counter()
        self._last: dict[str, tuple[int, int]] = {}  # counts of removed faults, the oldest first
        self._noted = 0

    def note(self, entry: LedgerEntry) -> None:
        """Add an entry. Only from the thread of the links."""
        self._noted += 1
        self._entries.append((self._noted, entry))
        self._counts[entry.fault, entry.result] += 1

    def begin_anew(self) -> None:
        """Forget all entries and counts. The numbering of entries goes on."""
        self._entries.clear()
        self._counts.clear()

    def forget(self, faults: Collection[str]) -> None:
        """Begin the counts of these names at 0 again. The last counts are kept for a while."""
        for fault in faults:
            self._last.pop(fault, None)
            self._last[fault] = self.numbers(fault)
            for result in Result:
                self._counts.pop((fault, result), None)
        for fault in list(self._last)[:-FORGOTTEN]:
            del self._last[fault]

    def __iter__(self) -> Iterator[LedgerEntry]:
        """The entries that are kept, the oldest first."""
        return (entry for _, entry in list(self._entries))

    def after(self, number: int, limit: int) -> list[tuple[int, LedgerEntry]]:
        """The first `limit` entries after entry `number`. The first entry is number 1."""
        later = (numbered for numbered in list(self._entries) if numbered[0] > number)
        return list(islice(later, limit))

    def of(self, fault: str, *results: Result) -> list[LedgerEntry]:
        """The entries of one fault; if results are given, only those with one of them."""
        return [it for it in self if it.fault == fault and (not results or it.result in results)]

    def numbers(self, fault: str) -> tuple[int, int]:
        """How often it matched, and how often it fired."""
        fired = self.count(fault, Result.FIRED)
        return fired + self.count(fault, Result.NOT_NOW), fired

    def last_numbers(self, fault: str) -> tuple[int, int]:
        """The same for a fault that was removed."""
        return self._last.get(fault, (0, 0))

    def count(self, fault: str, result: Result) -> int:
        """The number of entries of this kind, whether they are still kept or not."""
        return self._counts[fault, result]
