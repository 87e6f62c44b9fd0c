"""Cut: the connection ends in the middle of a frame."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field, StrictInt

from plugins.faults.effect import EndOfConnection, FaultSide, Target
from plugins.faults.kinds import SidedEffect
from proxy.plugin import Cut, Decision
from rules.trigger import Firing


class CutFrame(SidedEffect):
    """Send only the beginning of a frame, and end the connection."""

    of_frames: ClassVar = True

    bytes: Annotated[StrictInt, Field(ge=0)] = Field(
        description="After so many bytes of the frame, of which its size is the first four.", examples=["10"]
    )
    side: FaultSide = Field(
        default=FaultSide.AFTER_BROKER,
        description="The request, before the broker; or the answer.",
        examples=["after_broker"],
    )
    how: EndOfConnection = Field(default=EndOfConnection.CLOSE, description="In which way it ends.", examples=["reset"])

    def apply(self, target: Target, firing: Firing) -> Decision:
        return Cut(self.bytes, f'fault "{firing.rule}" cuts a frame', self.how.how)
