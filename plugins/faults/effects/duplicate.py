"""Duplicate: the broker gets a request more than once, as if a network or a client had sent it again.

The client gets only the first answer.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field, StrictInt

from plugins.faults.effect import Effect, Target
from proxy.plugin import Decision, Forward
from rules.trigger import Firing


class DuplicateRequest(Effect):
    """Send a request several times."""

    of_frames: ClassVar = True

    times: Annotated[StrictInt, Field(ge=2, le=10)] = Field(
        default=2, description="So many times in all.", examples=["2"]
    )

    def apply(self, target: Target, firing: Firing) -> Decision:
        return Forward(target.message, copies=self.times)
