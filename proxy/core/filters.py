"""Filters: the filter chains of one configuration, found with one look into a table.

Rules:
* There is a chain for each version of each API, built once. Only then are plugins asked what they want.
* There is no chain for requests that clients must not send: those of an unknown API or version, and those that brokers
  send to brokers. Such a request closes its connection, as a broker would (hazard 8 of the wire).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any
from weakref import ref

from proxy.core.arrival import Arrival, NotServed
from proxy.core.context import Connection, Context
from proxy.core.counted_chain import CountedChain, counted_chain
from proxy.core.decisions import Decision, Steps
from proxy.core.events import Fact
from proxy.core.filter_chain import FilterChain, Lease
from proxy.core.interest import interest
from proxy.core.outcome import Observers, Outcome
from proxy.core.plugin import Plugin
from proxy.core.wish import Handler
from proxy.protocol.api import APIS, Api
from proxy.protocol.schema import Message, Request


class Filters:
    """All filter chains of one configuration. `table` is keyed by api key << 16 | version.

    `lease()` is None once neither these filters nor anything that began under them exists any more.
    """

    def __init__(self, plugins: Iterable[Plugin] = (), apis: Iterable[Api] | None = None) -> None:
        self.plugins = plugins = tuple(plugins)
        self.joining = {_name(plugin): plugin.joined for plugin in plugins if type(plugin).joined is not Plugin.joined}
        self.names = frozenset(map(_name, plugins))
        self._lease = Lease()
        self.lease = ref(self._lease)
        handlers: list[Handler] = []
        self.unsupported: dict[int, Callable[..., Any]] = {}
        unreadables: dict[int, Callable[[Context], Steps]] = {}
        self.accepted: list[Callable[[Arrival], Steps | Decision]] = []
        self.not_served: list[Callable[[NotServed], None]] = []
        self.connected: list[Callable[[Connection], Steps | None]] = []
        self.events: dict[type[Fact], list[Callable[[Connection, Any], object]]] = {}
        for position, plugin in enumerate(plugins):
            handlers += plugin.handlers(position)
            if type(plugin).accepted is not Plugin.accepted:
                self.accepted.append(plugin.accepted)
            if type(plugin).not_served is not Plugin.not_served:
                self.not_served.append(plugin.not_served)
            if type(plugin).connected is not Plugin.connected:
                self.connected.append(plugin.connected)
            for name, kinds in plugin.marked_events.items():
                for kind in kinds:
                    self.events.setdefault(kind, []).append(getattr(plugin, name))
            self.unsupported |= {api.key: getattr(plugin, name) for name, api in plugin.marked_unsupported.items()}
            unreadables |= {api.key: getattr(plugin, name) for name, api in plugin.marked_unreadable.items()}
        self.table: dict[int, FilterChain] = {}
        self.counted: dict[int, CountedChain] = {}  # of requests that may be counted without being read
        for api in APIS.values() if apis is None else apis:
            if not api.inter_broker:
                self._add(api, handlers, unreadables.get(api.key))

    def _add(self, api: Api, handlers: Iterable[Handler], unreadable: Callable[[Context], Steps] | None) -> None:
        """Build the chains of this API, one for each version."""
        down = _wanting(api.request, handlers)
        up = _wanting(api.response, handlers)[::-1]
        observers = self.observers(api)
        watching = {handler.position for handler in (*down, *up) if handler.wish.observes}
        watching |= {position for position, plugin in enumerate(self.plugins) if any(plugin.observers(api))}
        counts = self.plugins[watching.pop()].counting if len(watching) == 1 else None
        for version in api.versions:
            request, response = interest(api.request, version, down), interest(api.response, version, up)
            unread = None
            if any(handler.needed for handler in up):
                always = interest(api.response, version, [handler for handler in up if handler.needed is None])
                unread = FilterChain(api, version, request, always, observers, lease=self._lease)
            chain = FilterChain(api, version, request, response, observers, unread, unreadable, lease=self._lease)
            self.table[chain.key] = chain
            counted = counted_chain(chain, counts(api, version)) if counts is not None else None
            if counted is not None:
                self.counted[chain.key] = counted

    def observers(self, api: Api) -> Observers:
        """The observers that are told the outcomes of requests of this API."""
        holders = tuple(holder for plugin in self.plugins for holder in plugin.holders(api))
        told = [observer for plugin in self.plugins for observer in plugin.observers(api)]
        observers = Observers(told or [_nobody] if holders else told)
        observers.lease, observers.holders = self._lease, holders
        return observers

    def counts(self) -> Mapping[tuple[str, int], int]:
        """Requests seen so far by api name and version."""
        return {(chain.api.name, chain.version): chain.requests for chain in self.table.values() if chain.requests}


def _name(plugin: Plugin) -> str:
    """What the configuration calls a plugin; one that has no services is called by its class."""
    services = getattr(plugin, "services", None)
    return type(plugin).__name__ if services is None else str(services.name)


def _nobody(ctx: Context, outcome: Outcome) -> None:
    """The observer of answers that are held back, if no plugin observes their outcomes."""


def _wanting(cls: type[Message], handlers: Iterable[Handler]) -> list[Handler]:
    side = "request" if issubclass(cls, Request) else "response"
    return [h for h in handlers if h.wish.side.side == side and h.wish.of(cls) != frozenset()]
