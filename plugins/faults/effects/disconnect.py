"""Disconnect: the connection ends before the broker gets the request, or before the client gets the answer.

After the broker it is the lost acknowledgement: the request is carried out, and the client never learns it.
"""

from __future__ import annotations

from pydantic import Field

from plugins.faults.effect import EndOfConnection, FaultSide, Target
from plugins.faults.kinds import SidedEffect
from proxy.plugin import Decision, Disconnect
from rules.trigger import Firing


class DisconnectClient(SidedEffect):
    """End the client's connection."""

    side: FaultSide = Field(
        default=FaultSide.BEFORE_BROKER, description="Before or after the broker.", examples=["after_broker"]
    )
    how: EndOfConnection = Field(default=EndOfConnection.CLOSE, description="In which way.", examples=["reset"])

    def apply(self, target: Target, firing: Firing) -> Decision:
        return Disconnect(f'fault "{firing.rule}" disconnects the client', self.how.how)
