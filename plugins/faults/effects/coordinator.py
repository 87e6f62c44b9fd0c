"""Coordinator: FindCoordinator names another broker than the real coordinator.

A client that believes it sends its requests to a broker that answers NOT_COORDINATOR.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from plugins.faults.effect import Target
from plugins.faults.kinds import PartsEffect
from proxy.plugin import FIND_COORDINATOR, Decision, Forward
from proxy.plugin.schema import TOP
from rules.trigger import Firing

SEVERAL_SINCE = 4  # the first version of FindCoordinator with many keys


class FalseCoordinator(PartsEffect):
    """Name another broker as the coordinator."""

    apis: ClassVar = frozenset({FIND_COORDINATOR})
    nothing: ClassVar = "the answer names no coordinator that is meant"

    def cannot(self, target: Target) -> str | None:
        if len(target.ctx.topology.brokers) < 2:
            return "no other broker is known"
        return super().cannot(target)

    def apply(self, target: Target, firing: Firing) -> Decision:
        brokers = sorted(target.ctx.topology.brokers)
        for found in list(self.parts(target)):
            other = next((it for it in brokers if it > found.node_id), brokers[0])
            # Its real address: the plugin `address` replaces it later.
            found.node_id, (found.host, found.port) = other, target.ctx.topology.brokers[other].real
        return Forward(target.message)

    def parts(self, target: Target) -> Iterator[Any]:
        name = TOP if target.ctx.version < SEVERAL_SINCE else "key"
        return (it for it in target.structs(name) if not it.error_code)
