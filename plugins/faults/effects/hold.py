"""Hold: a request or its answer waits until its fault is released or removed.

Rules:
* Of all that a fault holds, the oldest looks whether it still does, since a release may come from any thread. When it
  goes on, or its connection ends, the next one looks. If all looked, 1,000 of them would take more than a core.
"""

from __future__ import annotations

from plugins.faults.effect import Target
from plugins.faults.kinds import SidedEffect
from proxy.plugin import Signal, Sleep, Steps, Wait
from rules.trigger import Firing

LOOKS = 0.02  # seconds between two looks
HELD = "held"  # the key of what is held in the memory, the oldest first


class HoldFrame(SidedEffect):
    """Have a request or its answer wait for a release."""

    def apply(self, target: Target, firing: Firing) -> Steps:
        held: dict[Signal, None] = target.memory.setdefault(HELD, {})
        is_oldest = Signal()
        held[is_oldest] = None
        try:
            while target.holds():
                yield Sleep(LOOKS) if next(iter(held)) is is_oldest else Wait(is_oldest)
        finally:
            del held[is_oldest]
            for oldest in held:
                oldest.release()
                break
        return None
