"""Connections that come to nothing: a broker that refuses them, resets them, or is down.

A client sees a connection that ends before anything was said on it, as in front of a broker whose process is gone. What
is known of it then is where it comes from and which broker it is for, and no more.
"""

from __future__ import annotations

from typing import ClassVar

from plugins.faults.effect import Effect, Target
from proxy.plugin import Decision, Disconnect, How
from rules.trigger import Firing


class RefuseConnection(Effect):
    """Close each new connection."""

    of_connections: ClassVar[bool] = True
    of_requests: ClassVar[bool] = False

    def refuse(self, rule: str) -> Decision:
        return Disconnect(f'fault "{rule}" refuses the connection', How.CLOSE)


class ResetConnection(Effect):
    """Reset each new connection."""

    of_connections: ClassVar[bool] = True
    of_requests: ClassVar[bool] = False

    def refuse(self, rule: str) -> Decision:
        return Disconnect(f'fault "{rule}" resets the connection', How.RESET)


class BrokerDown(Effect):
    """Reset each new connection, and each one that is there as soon as it asks for something."""

    of_connections: ClassVar[bool] = True

    def refuse(self, rule: str) -> Decision:
        return Disconnect(f'by fault "{rule}" the broker is down', How.RESET)

    def apply(self, target: Target, firing: Firing) -> Decision:
        return self.refuse(firing.rule)
