"""The ledger: what faults did, and what came near.

# Every match is in it: one that fired, one that did not yet or no more, one to which nothing could be done; and
# of each fault a few near misses: requests of the right kind that were about something else.
# Memory is bounded: of all entries the last are kept, of each fault how many there were of each kind.
# It may be read at any time, from any thread.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterator
from enum import Enum
from itertools import islice
from typing import NamedTuple

KEPT = 10_000  # entries
FORGOTTEN = 1_000  # faults that are gone, and whose last numbers may still be asked for


class Result(Enum):
    """What became of a request that a fault might have been done to."""

    FIRED = "fired"
    NOT_NOW = "matched, not now"
    CANNOT = "matched, cannot be applied"
    NEAR_MISS = "near miss"


class NotedRequest(NamedTuple):
    """Which request it was."""

    api: str
    version: int
    correlation_id: int
    connection: int  # its number
    client_id: str | None = None

    def __str__(self) -> str:
        return f"{self.api} v{self.version} #{self.correlation_id}"


class LedgerEntry(NamedTuple):
    """One of them. `at`: seconds since 1970. Of a connection that was accepted there is no request.

    `why` it did not fire; of one that did, the effect.
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
    """What became of the faults in force, and of those before them."""

    def __init__(self, kept: int = KEPT) -> None:
        self._entries: deque[tuple[int, LedgerEntry]] = deque(maxlen=kept)
        self._counts: Counter[tuple[str, Result]] = Counter()
        self._last: dict[str, tuple[int, int]] = {}  # numbers of faults that are gone, the oldest first
        self._noted = 0

    def note(self, entry: LedgerEntry) -> None:
        """One more. From the thread of the links alone."""
        self._noted += 1
        self._entries.append((self._noted, entry))
        self._counts[entry.fault, entry.result] += 1

    def begin_anew(self) -> None:
        """Forget all entries and counts. Numbers of entries go on."""
        self._entries.clear()
        self._counts.clear()

    def forget(self, faults: Collection[str]) -> None:
        """Count these faults from 0 again, should there be any of their names. Their last numbers are kept a while."""
        for fault in faults:
            self._last.pop(fault, None)
            self._last[fault] = self.numbers(fault)
            for result in Result:
                self._counts.pop((fault, result), None)
        for fault in list(self._last)[:-FORGOTTEN]:
            del self._last[fault]

    def __iter__(self) -> Iterator[LedgerEntry]:
        """Those that are kept, the oldest first."""
        return (entry for _, entry in list(self._entries))

    def after(self, number: int, limit: int) -> list[tuple[int, LedgerEntry]]:
        """The first so many of those that came after entry `number`. The first entry is number 1."""
        later = (numbered for numbered in list(self._entries) if numbered[0] > number)
        return list(islice(later, limit))

    def of(self, fault: str, *results: Result) -> list[LedgerEntry]:
        """Those of one fault, that had one of these results if any are named."""
        return [it for it in self if it.fault == fault and (not results or it.result in results)]

    def numbers(self, fault: str) -> tuple[int, int]:
        """How often it matched, and how often it fired."""
        fired = self.count(fault, Result.FIRED)
        return fired + self.count(fault, Result.NOT_NOW), fired

    def last_numbers(self, fault: str) -> tuple[int, int]:
        """The same of a fault that is gone."""
        return self._last.get(fault, (0, 0))

    def count(self, fault: str, result: Result) -> int:
        """How many there were, whether or not they are kept."""
        return self._counts[fault, result]
