"""Bandwidth: frames arrive at no more than a number of bytes a second.

Each connection has this bandwidth for itself: its answers follow each other, and so do its requests. A frame is sent in
steps of 5 ms; the smallest takes one step.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from plugins.faults.effect import FaultSide, Target
from plugins.faults.kinds import SidedEffect
from proxy.plugin import Decision, Drip
from proxy.plugin.files import Size
from rules.trigger import Firing

STEP = 0.005  # seconds


class Bandwidth(SidedEffect):
    """Send a frame at this speed."""

    of_frames: ClassVar = True

    rate: Annotated[Size, Field(ge=1)] = Field(description="Bytes in a second.", examples=["64KiB"])
    side: FaultSide = Field(
        default=FaultSide.AFTER_BROKER,
        description="The request, before the broker; or the answer.",
        examples=["before_broker"],
    )

    def apply(self, target: Target, firing: Firing) -> Decision:
        piece = max(round(self.rate * STEP), 1)
        return Drip(piece, piece / self.rate)
