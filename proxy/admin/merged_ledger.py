"""The merged ledger: the fault ledgers of all workers in one, with new numbers.

Rules:
* Entries are gathered when somebody asks. If a worker ends first, the entries that were not gathered are lost.
* Entries that are gathered together are in the order of their times. Numbers begin at 1 and only grow.
* Only the last entries are kept, as in each worker.
* Waiting readers share their queries: one queries the workers, and the others see what it found. Each waiting reader
  holds a connection. Beyond WAITING of them, a reader is told to come again later.
* An entry is taken once, because the position in each ledger is remembered. A ledger is known by its plugin's "life".
  Of lives that answer no more, the oldest positions are forgotten.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from itertools import islice
from typing import Any

import trio

from proxy.admin.problems import HttpError

KEPT = 10_000  # entries
AT_ONCE = 1_000  # entries that are requested from one worker at a time
LIVES = 1_000  # ledgers whose position is remembered
LOOKS = 0.05  # seconds between two queries for a first entry
WAITING = 100  # readers who may wait at a time

Query = Callable[[str, Mapping[str, Any]], Awaitable[dict[int, list[Any]]]]


class MergedLedger:
    """`query` sends a question to the faults of all workers."""

    def __init__(self, query: Query) -> None:
        self._query = query
        self._entries: deque[dict[str, Any]] = deque(maxlen=KEPT)
        self._number = 0
        self._after: dict[str, int] = {}  # by life: the position up to which it was read
        self._gathering = trio.Lock()
        self._gathered = -math.inf  # when the last gathering began
        self._waiting = 0

    async def page(self, since: int, limit: int, wait: float) -> dict[str, Any]:
        """The first entries after number `since`. There may be none after `wait` seconds.

        `next` is the value for `since` in the next request. Raises HttpError if too many readers wait.
        """
        found = await self._found(since, limit)
        if not found and wait:
            found = await self._first(since, limit, wait)
        return {"entries": found, "next": found[-1]["number"] if found else since}

    async def _first(self, since: int, limit: int, wait: float) -> list[dict[str, Any]]:
        """The entries that come within `wait` seconds. Raises HttpError if too many readers wait."""
        if self._waiting == WAITING:
            why = f'{WAITING} readers wait for the ledger already; ask without "wait", or in a second'
            raise HttpError(503, why, headers={"retry-after": "1"})
        self._waiting += 1
        try:
            until, found = trio.current_time() + wait, list[dict[str, Any]]()
            while not found and trio.current_time() < until:
                await trio.sleep(LOOKS)
                found = await self._found(since, limit, LOOKS)
            return found
        finally:
            self._waiting -= 1

    async def _found(self, since: int, limit: int, age: float = 0.0) -> list[dict[str, Any]]:
        """The first entries after number `since`. Workers are asked if the last time was `age` seconds ago or more."""
        async with self._gathering:
            if trio.current_time() >= self._gathered + age:
                await self._gather()
            if since >= self._number:
                return []
            return list(islice((it for it in self._entries if it["number"] > since), limit))

    async def begin_anew(self, reset: Callable[[], Awaitable[None]]) -> None:
        """Have the workers clear their ledgers, and clear this one."""
        async with self._gathering:
            await reset()
            self._entries.clear()

    async def _gather(self) -> None:
        """Take the new entries of all workers."""
        self._gathered = trio.current_time()
        new: list[dict[str, Any]] = []
        try:
            for _ in range(KEPT // AT_ONCE):
                answers = await self._query("ledger", {"after": self._after, "limit": AT_ONCE})
                for worker, answer in ((worker, answer) for worker, each in answers.items() for answer in each):
                    self._after.pop(answer["life"], None)  # keeps the dict in the order of the last answers
                    self._after[answer["life"]] = answer["after"]
                    new += [_of_worker(worker, entry) for entry in answer["entries"]]
                if all(len(answer["entries"]) < AT_ONCE for each in answers.values() for answer in each):
                    break
        finally:  # what was read is not read again, even if the next query fails
            self._take(new)

    def _take(self, new: Iterable[dict[str, Any]]) -> None:
        for entry in sorted(new, key=lambda entry: entry["time"]):
            self._number += 1
            self._entries.append({"number": self._number, **entry})
        while len(self._after) > LIVES:
            del self._after[next(iter(self._after))]


def _of_worker(worker: int, entry: dict[str, Any]) -> dict[str, Any]:
    number = entry["connection"]
    return {**entry, "connection": None if number is None else f"{worker}-{number}", "worker": worker}
