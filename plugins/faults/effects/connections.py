"""New connections: a broker that refuses them, resets them, is slow to serve them, or is down.

A client sees a connection that ends before any byte was exchanged, as with a broker whose process is gone. At that time
only the client's address, the listener and the broker of the connection are known.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from plugins.faults.effect import Effect, EndOfConnection, Target
from proxy.plugin import Decision, Disconnect, How, Sleep, Steps
from proxy.plugin.files import Seconds, at_most
from rules.trigger import Firing


class RefuseConnection(Effect):
    """End each new connection."""

    of_connections: ClassVar[bool] = True
    of_requests: ClassVar[bool] = False
    how: EndOfConnection = Field(
        default=EndOfConnection.CLOSE, description="In which way it ends.", examples=["black_hole"]
    )

    def refuse(self, rule: str) -> Decision:
        return Disconnect(f'fault "{rule}" refuses the connection', self.how.how)


class ResetConnection(Effect):
    """Reset each new connection."""

    of_connections: ClassVar[bool] = True
    of_requests: ClassVar[bool] = False

    def refuse(self, rule: str) -> Decision:
        return Disconnect(f'fault "{rule}" resets the connection', How.RESET)


class LateConnection(Effect):
    """Let each new connection wait before it is served."""

    of_connections: ClassVar[bool] = True
    of_requests: ClassVar[bool] = False
    time: Annotated[Seconds, at_most("1h")] = Field(description="How long it waits.", examples=["2s"])

    def refuse(self, rule: str) -> Steps:
        yield Sleep(self.time)
        return None


class BrokerDown(Effect):
    """End each new connection, and each open one at its next request."""

    of_connections: ClassVar[bool] = True
    how: EndOfConnection = Field(
        default=EndOfConnection.RESET,
        description="Reset, as its machine does it where the process is gone; a black hole is a machine that is gone.",
        examples=["black_hole"],
    )

    def refuse(self, rule: str) -> Decision:
        return Disconnect(f'by fault "{rule}" the broker is down', self.how.how)

    def apply(self, target: Target, firing: Firing) -> Decision:
        return self.refuse(firing.rule)
