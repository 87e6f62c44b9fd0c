"""Complaints: a rate limit for log lines that clients and brokers can cause, so that people can read the log.

A refused client comes again at once, and a scan asks for ten thousand names. Each of these would be a line.

Rules:
* Lines of one kind have the same event about the same thing: a principal and an operation, a listener and a host. They
  differ in an example, such as the name of a topic. The first 10 examples of a kind are written at once, and a further
  one every 5 seconds. An example is repeated only after the kind was silent for 10 seconds.
* All lines of one event share a limit: 50 at once, then one a second, however many clients there are.
* A line says how many lines of its kind were left out before it, and how many examples. Once a minute, one line sums up
  what was left out and has no later line. Nothing is left out silently.
* Memory is bounded: 500 kinds with 50 examples each are remembered, as hashes. Others are treated as new.
* Texts in a line are cut, since clients choose how long a name is.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

import structlog
import trio

from proxy.logs.bucket import Bucket
from proxy.logs.cut import short

log = structlog.get_logger()

AT_ONCE = 10  # examples of one kind that are written at once
NEXT = 5.0  # seconds until a further example of the kind
EVERY = 10.0  # seconds of silence until an example may be repeated
BURST = 50  # lines of one event at once
PACE = 1.0  # seconds between two of them, after that
KINDS = 500
EXAMPLES = 50  # the number of examples that each kind remembers
SUM_UP = 60.0  # seconds between two summaries

Write = Callable[..., object]  # `log.warning` or another level


@dataclass(slots=True)
class Kind:
    """Lines that differ only in an example."""

    bucket: Bucket = field(default_factory=lambda: Bucket(AT_ONCE, NEXT))
    last: float = float("-inf")  # when its last line was written
    told: set[int] = field(default_factory=set)  # examples that were written
    left_out: int = 0
    missed: set[int] = field(default_factory=set)  # examples that were left out

    def is_due(self, example: int, now: float) -> bool:
        """May a line about this example be written?"""
        return self.bucket.has(now) and (example not in self.told or now - self.last >= EVERY)

    def miss(self, example: int) -> None:
        """Count a line that was left out."""
        self.left_out += 1
        if len(self.missed) < EXAMPLES:
            self.missed.add(example)

    def tell(self, example: int, now: float) -> dict[str, object]:
        """Count a line as written. Returns its fields about lines left out before it."""
        self.bucket.take(now)
        self.last = now
        if len(self.told) >= EXAMPLES:
            self.told.clear()
        self.told.add(example)
        left_out, missed = self.left_out, len(self.missed)
        self.left_out = 0
        self.missed.clear()
        examples = f"{missed} or more" if missed >= EXAMPLES else missed
        return ({"left_out": left_out} if left_out else {}) | ({"left_out_examples": examples} if missed > 1 else {})


class Complaints:
    """The rate limits of one worker."""

    def __init__(self) -> None:
        self.left_out = 0  # lines left out since the start
        self._kinds: OrderedDict[tuple[str, int], Kind] = OrderedDict()  # in the order of last use
        self._paces: dict[str, Bucket] = {}  # by event
        self._forgotten: Counter[str] = Counter()  # by event: lines left out of forgotten kinds

    def tell(
        self, write: Write, event: str, about: Hashable = None, example: Hashable = None, /, **facts: object
    ) -> None:
        """Write this line, if it is due. `event` is one of our own texts, never text from a peer."""
        left_out = self.due(event, about, example)
        if left_out is not None:
            write(event, **short(facts), **left_out)

    def due(self, event: str, about: Hashable = None, example: Hashable = None) -> dict[str, object] | None:
        """The fields about lines left out, if the line may be written now. None: this one is left out too.

        It is for frequent lines, whose other fields are put together only if the line is written.
        """
        now = trio.current_time()
        kind = self._kind(event, hash(about))
        pace = self._paces.get(event) or self._paces.setdefault(event, Bucket(BURST, PACE))
        if pace.has(now) and kind.is_due(hash(example), now):
            pace.take(now)
            return kind.tell(hash(example), now)
        self.left_out += 1
        kind.miss(hash(example))
        return None

    def _kind(self, event: str, about: int) -> Kind:
        kind = self._kinds.get((event, about))
        if kind is not None:
            self._kinds.move_to_end((event, about))
            return kind
        if len(self._kinds) >= KINDS:
            (other, _), forgotten = self._kinds.popitem(last=False)
            self._forgotten[other] += forgotten.left_out
        return self._kinds.setdefault((event, about), Kind())

    async def watch(self) -> None:
        """Write a summary once a minute, until cancelled."""
        while True:
            await trio.sleep(SUM_UP)
            self.sum_up(trio.current_time() - SUM_UP)

    def sum_up(self, silent_since: float = float("inf")) -> None:
        """Write one line about what was left out of kinds that had no line since `silent_since`."""
        left_out, self._forgotten = self._forgotten, Counter()
        for (event, _), kind in self._kinds.items():
            if kind.left_out and kind.last <= silent_since:
                left_out[event] += kind.left_out
                kind.left_out = 0
                kind.missed.clear()
        if +left_out:
            log.warning("lines left out", lines=dict(+left_out), why="there were too many alike")
