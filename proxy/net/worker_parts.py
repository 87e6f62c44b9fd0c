"""Worker parts: what the clusters, listeners and connections of one worker share."""

from __future__ import annotations

from dataclasses import dataclass, field

import trio

from proxy.config import LimitOptions
from proxy.core.limits import Counters as LinkCounters
from proxy.net.complaints import Complaints
from proxy.net.listeners import Listener
from proxy.net.plugin_host import PluginHost
from proxy.net.reactor import Reactor
from proxy.net.snapshot import GatewaySnapshot
from proxy.net.taken_ports import TakenPorts
from proxy.net.tasks import Tasks
from proxy.telemetry.counters import NetworkCounters


@dataclass
class WorkerParts:
    """The parts of one worker that its clusters, listeners and connections share.

    `mark`: the client id of this proxy. `host`: what plugins share. `listeners`: all listeners of the worker. `taken`:
    the names of those that are not opened, since somebody else has their port. `taken_ports` writes the lines about
    taken ports.

    `snapshot` is the one in force. After any await it may be another.
    """

    snapshot: GatewaySnapshot
    reactor: Reactor
    tasks: Tasks
    counters: NetworkCounters
    link_counters: LinkCounters
    complaints: Complaints
    mark: str
    host: PluginHost
    taken: set[str] = field(default_factory=set)
    taken_ports: TakenPorts = field(default_factory=TakenPorts)
    listeners: list[Listener] = field(default_factory=list)
    dialling: trio.Nursery = field(init=False)

    @property
    def limits(self) -> LimitOptions:
        """The limits in force."""
        return self.snapshot.config.limits

    def forget(self) -> None:
        """Have links ask plugins anew which requests may pass, because a plugin's basis for that has changed."""
        for conversation in self.reactor.conversations:
            conversation.link.forget()
