"""Complaints: lines of the log that clients and brokers can cause, as many as a person reads and a disk holds.

A client that is refused comes again at once, a scan asks for ten thousand names, and each would be a line.

Rules:
* Lines of one kind are the same event about the same thing: a principal and an operation, a listener and a host. They
  differ in an example, as the name of a topic. The first 10 examples of a kind are told at once, a further one every
  5 seconds, and one that was told before when the kind was silent for 10 seconds.
* All lines of one event together: 50 at once, and after that one a second, however many clients there are.
* A line says how many of its kind were left out before it, and of how many examples. What no line came for is summed up
  once a minute. Nothing is left out silently.
* Memory is bounded: of 500 kinds and 50 examples each, as hashes. What is forgotten is told anew, as if it were new.
* What a line says is cut: clients choose how long a name is.
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

AT_ONCE = 10  # examples of one kind
NEXT = 5.0  # seconds until a further example
EVERY = 10.0  # seconds of silence until one that was told before
BURST = 50  # lines of one event
PACE = 1.0  # seconds between two of them, after that
KINDS = 500
EXAMPLES = 50  # remembered of each kind
SUM_UP = 60.0  # seconds

Write = Callable[..., object]  # `log.warning` or another level


@dataclass(slots=True)
class Kind:
    """Lines that differ in an example only."""

    bucket: Bucket = field(default_factory=lambda: Bucket(AT_ONCE, NEXT))
    last: float = float("-inf")  # when a line was written
    told: set[int] = field(default_factory=set)  # examples
    left_out: int = 0
    missed: set[int] = field(default_factory=set)  # examples that were left out

    def is_due(self, example: int, now: float) -> bool:
        """Whether a line about this example is."""
        return self.bucket.has(now) and (example not in self.told or now - self.last >= EVERY)

    def miss(self, example: int) -> None:
        """Leave a line out."""
        self.left_out += 1
        if len(self.missed) < EXAMPLES:
            self.missed.add(example)

    def tell(self, example: int, now: float) -> dict[str, object]:
        """Write a line. Gives what it says of those that were left out before."""
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
    """All of one worker."""

    def __init__(self) -> None:
        self.left_out = 0  # lines, since the start
        self._kinds: OrderedDict[tuple[str, int], Kind] = OrderedDict()  # the last one touched comes last
        self._paces: dict[str, Bucket] = {}  # by event
        self._forgotten: Counter[str] = Counter()  # lines left out of kinds that are forgotten, by event

    def tell(
        self, write: Write, event: str, about: Hashable = None, example: Hashable = None, /, **facts: object
    ) -> None:
        """Write this line, if it is due. `event` is one of ours, never what somebody else wrote."""
        left_out = self.due(event, about, example)
        if left_out is not None:
            write(event, **short(facts), **left_out)

    def due(self, event: str, about: Hashable = None, example: Hashable = None) -> dict[str, object] | None:
        """What the line says of those left out before it, which is written now; None if it is left out too.

        For lines that come so often that what they say is put together only when they are due.
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
        """Sum up once a minute, until cancelled."""
        while True:
            await trio.sleep(SUM_UP)
            self.sum_up(trio.current_time() - SUM_UP)

    def sum_up(self, silent_since: float = float("inf")) -> None:
        """One line about what was left out of kinds that wrote none since then."""
        left_out, self._forgotten = self._forgotten, Counter()
        for (event, _), kind in self._kinds.items():
            if kind.left_out and kind.last <= silent_since:
                left_out[event] += kind.left_out
                kind.left_out = 0
                kind.missed.clear()
        if +left_out:
            log.warning("lines left out", lines=dict(+left_out), why="there were too many alike")
