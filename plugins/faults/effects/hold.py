"""Hold: a request or its answer waits until its fault is released or removed."""

from __future__ import annotations

from plugins.faults.effect import Target
from plugins.faults.kinds import SidedEffect
from proxy.plugin import Sleep, Steps
from rules.trigger import Firing

LOOKS = 0.02  # seconds between two checks, since a release may come from any thread


class HoldFrame(SidedEffect):
    """Have a request or its answer wait for a release."""

    def apply(self, target: Target, firing: Firing) -> Steps:
        while target.holds():
            yield Sleep(LOOKS)
        return None
