"""The ledger: what faults did, and what came near.

# Every match is in it: one that fired, one that did not yet or no more, one to which nothing could be done; and every
# near miss, a request of the right kind that was about something else.
# Memory is bounded: of all entries the last are kept, of each fault how many there were of each kind.
# It may be read at any time, from any thread.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

KEPT = 10_000  # entries


class Result(Enum):
    """What became of a request that a fault might have been done to."""

    FIRED = "fired"
    NOT_NOW = "matched, not now"
    CANNOT = "matched, cannot be applied"
    NEAR_MISS = "near miss"


class LedgerEntry(NamedTuple):
    """One of them. `at`: seconds since 1970. Of a connection that was accepted there is no request."""

    at: float
    fault: str
    result: Result
    why: str
    client: str
    broker: int | None
    request: str | None = None  # "Produce v9 #17", with the correlation id
    match: int | None = None  # its number among the matches that counted

    def __str__(self) -> str:
        about = f"{self.request} of {self.client}" if self.request else f"a connection of {self.client}"
        broker = "" if self.broker is None else f" to broker {self.broker}"
        number = "" if self.match is None else f" at match {self.match}"
        return f"{self.fault}: {self.result.value}{number}: {about}{broker}" + (f": {self.why}" if self.why else "")


class Ledger:
    """What became of the faults of one file, and of those before it."""

    def __init__(self, kept: int = KEPT) -> None:
        self._entries: deque[LedgerEntry] = deque(maxlen=kept)
        self._counts: Counter[tuple[str, Result]] = Counter()

    def note(self, entry: LedgerEntry) -> None:
        """One more. From the thread of the links alone."""
        self._entries.append(entry)
        self._counts[entry.fault, entry.result] += 1

    def __iter__(self) -> Iterator[LedgerEntry]:
        """Those that are kept, the oldest first."""
        return iter(list(self._entries))

    def of(self, fault: str, *results: Result) -> list[LedgerEntry]:
        """Those of one fault, that had one of these results if any are named."""
        return [it for it in self if it.fault == fault and (not results or it.result in results)]

    def count(self, fault: str, result: Result) -> int:
        """How many there were, whether or not they are kept."""
        return self._counts[fault, result]
