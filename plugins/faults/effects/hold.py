"""Hold: a request, or its answer, waits until it is released: by `Faults.release`, or when its rule leaves the file."""

from __future__ import annotations

from pydantic import Field

from plugins.faults.effect import Effect, FaultSide, Target
from proxy.plugin import Sleep, Steps
from rules.trigger import Firing

LOOKS = 0.02  # seconds between two looks: who releases may be in any thread


class HoldFrame(Effect):
    """Have a request or its answer wait for a release."""

    side: FaultSide = Field(
        default=FaultSide.BEFORE_BROKER,
        description="The request, before the broker; or the answer.",
        examples=["after_broker"],
    )

    @property
    def at(self) -> FaultSide:
        return self.side

    def apply(self, target: Target, firing: Firing) -> Steps:
        while target.holds():
            yield Sleep(LOOKS)
        return None
