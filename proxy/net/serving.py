"""Serving: what all connections of a worker share."""

from __future__ import annotations

from dataclasses import dataclass, field

import trio

from proxy.config import LimitOptions
from proxy.core.allowance import Allowance
from proxy.core.limits import Counters as LinkCounters
from proxy.net.complaints import Complaints
from proxy.net.listeners import Listener
from proxy.net.plugin_host import PluginHost
from proxy.net.reactor import Reactor
from proxy.net.snapshot import GatewaySnapshot
from proxy.net.tasks import Tasks
from proxy.telemetry.counters import NetworkCounters


@dataclass
class Worker:
    """What all connections of a worker share.

    `mark`: the client id of this proxy; `host`: what plugins share; `listeners`: all that it has.

    `snapshot` is in force: another may be after any await.
    """

    snapshot: GatewaySnapshot
    reactor: Reactor
    tasks: Tasks
    counters: NetworkCounters
    link_counters: LinkCounters
    complaints: Complaints
    mark: str
    host: PluginHost
    allowance: Allowance = field(default_factory=Allowance)
    listeners: list[Listener] = field(default_factory=list)
    dialling: trio.Nursery = field(init=False)

    @property
    def limits(self) -> LimitOptions:
        """Those that are in force."""
        return self.snapshot.config.limits

    def forget(self) -> None:
        """What plugins go by is another: links ask them anew which requests may pass."""
        for conversation in self.reactor.conversations:
            conversation.link.forget()
