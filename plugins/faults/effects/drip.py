"""Drip: a frame arrives piece by piece, as over a very bad link."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field, StrictInt

from plugins.faults.effect import FaultSide, Target
from plugins.faults.kinds import SidedEffect
from proxy.plugin import Decision, Drip
from proxy.plugin.files import Seconds
from rules.trigger import Firing


class DripFrame(SidedEffect):
    """Send a frame in pieces."""

    of_frames: ClassVar = True

    bytes: Annotated[StrictInt, Field(ge=1)] = Field(description="So many bytes at once.", examples=["16"])
    every: Seconds = Field(default=0.05, description="The time between two pieces.", examples=["50ms"])
    side: FaultSide = Field(
        default=FaultSide.AFTER_BROKER,
        description="The request, before the broker; or the answer.",
        examples=["after_broker"],
    )

    def apply(self, target: Target, firing: Firing) -> Decision:
        return Drip(self.bytes, self.every)
