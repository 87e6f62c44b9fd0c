"""Slow turns: the event loop was busy for so long at a stretch that all clients of its worker waited.

The usual cause is a plugin that blocks: its handler sleeps, or waits for a disk, a lock or a network. Nothing else runs
in the thread of the links meanwhile, and no client gets an error: without a line, nobody would know why all are slow.

Rules:
* Whole turns are measured, by a clock that is read once more at the end of a turn. A request costs nothing.
* Turns of the loop are measured, steps of links that other tasks run, and the beginning of a link. What plugins do
  before there is a link (`accepted`) is not.
* The method that blocked is not known. Noting each method before its call would cost every request.
* Every slow turn is counted. Lines about them are rate-limited as complaints.
"""

from __future__ import annotations

import structlog

from proxy.net.complaints import Complaints

log = structlog.get_logger()

SLOW = 0.5  # seconds: many times what large messages take, and more than a busy machine keeps a process from running

WHY = (
    "nothing else ran meanwhile, and no client was served: a method of a plugin blocks, or there is too little CPU time"
)
WAY_OUT = (
    "have the plugin `yield Sleep`, `yield Call` or go over `turns()` where it waits or computes; or give more CPU"
)


class SlowTurns:
    """The slow turns of one worker. `count`: how many there were."""

    def __init__(self, complaints: Complaints) -> None:
        self._complaints = complaints
        self.count = 0

    def took(self, seconds: float) -> None:
        """Something was done at a stretch, and took so long."""
        if seconds > SLOW:
            self.count += 1
            facts = {"seconds": round(seconds, 3), "why": WHY, "way_out": WAY_OUT}
            self._complaints.tell(log.warning, "event loop held up", **facts)
