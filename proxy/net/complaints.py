"""Complaints: a line of the log about one thing, once in a while, however often the thing comes back.

A client that is refused comes again at once, and a thousand of them fill a disk with what the first line said.

Rules:
* The first complaint about something is due at once, later ones every 10 seconds.
* A line says how many were left out before it: nothing is lost silently.
* What clients may name at will does not fill the memory: of more than 10,000 things, the one that was told longest ago
  is told anew when it comes back.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

import trio

EVERY = 10.0  # seconds
MOST = 10_000


class Complaints:
    """What was complained about, when, and how often it was left out since."""

    def __init__(self) -> None:
        self._told: OrderedDict[Hashable, tuple[float, int]] = OrderedDict()

    def due(self, about: Hashable) -> dict[str, int] | None:
        """What to add to a line about this, which is due now; None if it is not."""
        now = trio.current_time()
        last, left_out = self._told.get(about, (float("-inf"), 0))
        if now - last < EVERY:
            self._told[about] = last, left_out + 1
            return None
        self._told[about] = now, 0
        self._told.move_to_end(about)
        if len(self._told) > MOST:
            self._told.popitem(last=False)
        return {"and_before": left_out} if left_out else {}
