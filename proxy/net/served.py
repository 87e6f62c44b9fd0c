"""Served: one cluster with all that a worker puts in front of it: plugins, routes, listeners, discovery.

Rules:
* Clusters have nothing in common but the reactor and the limits: what is wrong with one keeps no other waiting, neither
  at the start nor later. Whatever runs for a cluster is a task of its own.
* Its ports open when its brokers are known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import trio

from plugins.address import Address
from plugins.api_versions import ApiVersions
from plugins.sasl_inspected import SaslInspected
from plugins.sasl_terminated import SaslTerminated
from proxy.auth.identity import Identities, introduce_later
from proxy.config import Config
from proxy.config.plugins import PluginUse, unique_names
from proxy.core.filters import Filters
from proxy.core.plugin import Options, Plugin
from proxy.core.topology import Endpoint
from proxy.net.arrivals import Arrivals, Worker
from proxy.net.authorities import Authorities, Speakers
from proxy.net.exposure import Exposure, Tell
from proxy.net.hosted import HostedPlugin
from proxy.net.listeners import Listener
from proxy.net.loops import Loops
from proxy.net.reloading import keep_in_step
from proxy.net.tasks import Tasks
from proxy.net.tls.brokers import BrokerTls
from proxy.net.upstream import Upstream

if TYPE_CHECKING:
    from proxy.net.fetching import FetchedToken
    from proxy.net.tls.clients import ClientTls
    from proxy.net.tls.watched_files import WatchedFiles


class Served:
    """One cluster. Raises StartError where a file that it needs cannot be used."""

    def __init__(
        self,
        name: str,
        config: Config,
        worker: Worker,
        authorities: Authorities,
        speakers: Speakers,
        tell: Tell | None = None,
    ) -> None:
        self.name = name
        self.opened = trio.Event()
        self._config = config
        self._worker = worker
        self.hosted: list[HostedPlugin] = []
        names = unique_names(config.plugins)
        self._plugins = [self._made(use, named) for use, named in zip(config.plugins, names, strict=True)]
        # One for all listeners, which show the same brokers, each at its own addresses.
        self._address = self._built_in("address", Address, Address.Options())
        self._api_versions = self._built_in("api_versions", ApiVersions, ApiVersions.Options(mark=worker.mark))
        self._token: FetchedToken | None = speakers.tokens.get(name)
        self._kept: list[WatchedFiles[Any]] = []  # files that may change
        listeners = [self._listener(each, shared=tell is not None) for each in self._names()]
        worker.listeners += listeners
        self.exposure = Exposure(name, listeners, config.limits.brokers, worker.tasks, tell)
        identities = speakers.by_cluster.get(name)
        self.upstream = self._upstream(identities)
        self.exposure.ask_again = self.upstream.ask_again
        self.exposure.in_use = self._in_use
        self._filters = [self._stand_in_front(each, authorities, identities, tell is not None) for each in listeners]

    def _made(self, use: PluginUse, name: str | None = None) -> Plugin:
        """A plugin of this cluster, and what runs for it. Raises StartError."""
        hosted = HostedPlugin(use, self.name, self._worker.host, name)
        self.hosted.append(hosted)
        return hosted.plugin

    def _built_in(self, name: str, plugin: type[Plugin], options: Options) -> Plugin:
        """One of those that no file names."""
        return self._made(PluginUse(name, plugin, options))

    def _names(self) -> list[str]:
        return [name for name, listener in self._config.listeners.items() if listener.cluster == self.name]

    def _listener(self, name: str, *, shared: bool) -> Listener:
        declared = self._config.listeners[name]
        hosts = declared.tls.hosts if declared.tls else None
        bind, tasks = Endpoint(*declared.bind), self._worker.tasks
        return Listener(name, bind, declared.advertised_host, tasks, self._worker.listeners, shared=shared, hosts=hosts)

    def _upstream(self, identities: Identities | None) -> Upstream:
        declared = self._config.clusters[self.name]
        tls = None
        if declared.tls is not None:
            tls = BrokerTls(self.name, declared.tls)
            self._kept.append(tls.kept)
        bootstrap = [Endpoint(*address) for address in declared.bootstrap]
        worker, seconds = self._worker, self._config.limits.dial
        loops = Loops(self.name, worker.mark, worker.listeners, worker.tasks)
        discovered, counters = self.exposure.discovered, worker.counters
        return Upstream(self.name, bootstrap, discovered, seconds, counters, identities, tls, loops, self._beside)

    def _in_use(self) -> set[int | None]:
        links = (conversation.link for conversation in self._worker.reactor.conversations)
        return {link.connection.broker_id for link in links if link.connection.cluster == self.name}

    def _beside(self, do: Callable[[], Awaitable[None]]) -> None:
        """Have this done beside what goes on."""

        async def contained() -> None:
            with self._worker.tasks.contained("asking through a broker's address"):
                await do()

        self._worker.dialling.start_soon(contained)

    def _stand_in_front(
        self, listener: Listener, authorities: Authorities, identities: Identities | None, others: bool
    ) -> Filters:
        """What is done with the clients of a listener."""
        authority = authorities.by_listener.get(listener.name)
        later = authority is not None and identities is not None and identities.by_client
        steps = partial(introduce_later, identities) if later and identities else None
        if authority is None:
            claim = self._config.clusters[self.name].principal_claim
            sasl = self._built_in("sasl_inspected", SaslInspected, SaslInspected.Options(principal_claim=claim))
        else:
            options = SaslTerminated.Options(authority=authority, introduce=steps)
            sasl = self._built_in("sasl_terminated", SaslTerminated, options)
        filters = Filters([sasl, self._address, *self._plugins, self._api_versions])
        tls = self._client_tls(listener.name, others)
        arrivals = Arrivals(listener.name, self.exposure, self.upstream, filters, self._worker, later, tls)
        listener.accepted = arrivals.accepted
        return filters

    def _client_tls(self, name: str, others: bool) -> ClientTls | None:
        listener = self._config.listeners[name]
        if listener.tls is None:
            return None
        from proxy.net.tls.clients import ClientTls  # reads certificates: 10 MB, only where there are any

        topology = self.exposure.topologies[name]
        found = ClientTls(name, listener, listener.tls, topology, self._config.limits, others=others)
        self._kept.append(found.kept)
        return found

    async def run(self) -> None:
        """Serve until cancelled; then no port is open."""
        tasks: Tasks = self._worker.tasks
        try:
            async with trio.open_nursery() as nursery:
                for kept in self._kept:
                    nursery.start_soon(tasks.keep, "reading certificates", kept.watch)
                files = [file for hosted in self.hosted for file in hosted.watched]
                nursery.start_soon(tasks.keep, "watching files of plugins", partial(keep_in_step, files, tasks))
                for listener in self.exposure.listeners:
                    await nursery.start(listener.serve)
                if self._token is not None:
                    tried = trio.Event()
                    nursery.start_soon(tasks.keep, "renewing a token", partial(_renew, self._token, tried))
                    await tried.wait()
                nursery.start_soon(tasks.keep, "discovering brokers", self.upstream.watch)
                await self.upstream.known.wait()
                await tasks.keep("opening ports", self.exposure.open)
                self.opened.set()
        finally:
            self.exposure.closing = True

    def counted(self) -> Counter[str]:
        """Requests of each API, and what plugins counted."""
        counted: Counter[str] = Counter()
        for filters in self._filters:
            for (api, _), count in filters.counts().items():
                counted[f"requests_{api}"] += count
        for plugin in self._plugins:
            counted.update(plugin.counts())
        return counted


async def _renew(token: FetchedToken, tried: trio.Event) -> None:
    async with trio.open_nursery() as nursery:
        try:
            await nursery.start(token.watch)
        finally:
            tried.set()
