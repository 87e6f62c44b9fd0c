"""Snapshot: what is in force in one worker, built of a configuration. It never changes; another takes its place.

Rules:
* It is built whole, in a thread, or not at all.
* What is built of the same options is kept from the snapshot before (`building.py`): plugins, authorities, files,
  contexts of TLS, and the filters of a listener whose plugins are all the same.
* SASL belongs to a connection: it goes on with the plugin that it began with, whatever its listener has now.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from plugins.address import Address
from plugins.api_versions import ApiVersions
from plugins.sasl_inspected import SaslInspected
from plugins.sasl_terminated import SaslTerminated
from proxy.auth.authority import ListenerAuthority
from proxy.auth.identity import Identities, introduce_later
from proxy.config import Config
from proxy.config.plugins import PluginUse, unique_names
from proxy.core.filters import Filters
from proxy.core.limits import Limits
from proxy.core.plugin import Options, Plugin
from proxy.net.authorities import CREDENTIALS, KEYS, UpstreamIdentity, authority, upstream_identity
from proxy.net.building import Building, Built, Key
from proxy.net.hosted import HostedPlugin, PluginHost
from proxy.net.process import StartError
from proxy.net.tls.brokers import BrokerTls
from proxy.net.watching import Watched

if TYPE_CHECKING:
    from proxy.net.fetching import FetchedKeys
    from proxy.net.tls.clients import ClientTls

PLUGIN, FILTERS, CERTIFICATES = "plugin", "filters", "certificates"  # kinds of what is built


@dataclass(frozen=True, slots=True)
class ClusterInForce:
    """What is in force for one cluster: the plugins that the configuration names and those that are always there."""

    plugins: tuple[Plugin, ...]
    address: Plugin
    api_versions: Plugin
    identity: UpstreamIdentity | None
    tls: BrokerTls | None


@dataclass(frozen=True, slots=True)
class ListenerInForce:
    """What is in force for the clients that come to one listener."""

    filters: Filters
    introduce_later: bool  # who we are for the brokers depends on who the client is
    tls: ClientTls | None


class GatewaySnapshot:
    """What is in force. `limits` are those of each link; `built` is everything, by keys."""

    def __init__(
        self,
        config: Config,
        clusters: Mapping[str, ClusterInForce],
        listeners: Mapping[str, ListenerInForce],
        built: Mapping[Key, Built],
    ) -> None:
        self.config = config
        self.limits = Limits(config.limits.frame, config.limits.in_flight, config.limits.elements)
        self.clusters = clusters
        self.listeners = listeners
        self.built = built
        self._filters: dict[tuple[str, Plugin], Filters] = {
            key[1:]: made.thing  # type: ignore[misc]  # the name of the listener, and the plugin
            for key, made in built.items()
            if key[0] == FILTERS
        }

    def filters(self, listener: str, authentication: Plugin) -> Filters:
        """The filters for clients of a listener that authenticate by this."""
        found = self._filters.get((listener, authentication))
        if found is None:  # they came while this was built
            _, *rest = self.listeners[listener].filters.plugins
            found = self._filters[listener, authentication] = Filters([authentication, *rest])
        return found

    @property
    def all_filters(self) -> Iterable[Filters]:
        """Of all listeners."""
        return self._filters.values()

    @property
    def is_outdated(self) -> bool:
        """Does a plugin read other requests or answers than when the filters were made?"""
        filters = (made for key, made in self.built.items() if key[0] == FILTERS)
        return any(made.of != _read_by(made.thing.plugins) for made in filters)

    @property
    def hosted(self) -> Sequence[HostedPlugin]:
        """All plugins, as they run."""
        return self._things(PLUGIN)

    @property
    def fetched(self) -> Sequence[FetchedKeys]:
        """Keys that are fetched."""
        return self._things(KEYS)

    @property
    def watched(self) -> Sequence[Watched]:
        """The files to be looked at."""
        return [
            *(file for hosted in self.hosted for file in hosted.watched),
            *(("credentials", file) for file in self._things(CREDENTIALS)),
            *(("certificates", tls.kept) for tls in self._things(CERTIFICATES)),
        ]

    def _things(self, kind: str) -> list[Any]:
        return [made.thing for key, made in self.built.items() if key[0] == kind]


def _read_by(plugins: tuple[Plugin, ...]) -> tuple[tuple[Plugin, Hashable], ...]:
    """What filters are made of."""
    return tuple((plugin, plugin.reads) for plugin in plugins)


class _Builder:
    """Builds one snapshot."""

    def __init__(
        self, config: Config, before: GatewaySnapshot | None, host: PluginHost, mark: str, *, others: bool
    ) -> None:
        self.building = Building({} if before is None else before.built)
        self._config = config
        self._host = host
        self._mark = mark
        self._others = others

    def cluster(self, name: str) -> ClusterInForce | None:
        """What is to be in force for a cluster; None where something could not be made."""
        building, declared = self.building, self._config.clusters[name]
        sasl, tls, speaks, seals = declared.sasl, declared.tls, None, None
        plugins = []
        for use, called in zip(self._config.plugins, unique_names(self._config.plugins), strict=True):
            with building.part():
                plugins.append(self._plugin(name, called, use, use))
        with building.part():
            if sasl is not None:
                speaks = building.get(("identity", name), sasl, partial(upstream_identity, sasl))
        with building.part():
            if tls is not None:
                seals = building.get((CERTIFICATES, "cluster", name), tls, partial(BrokerTls, name, tls))
        # One for all listeners, which show the same brokers, each at its own addresses.
        address = self._always(name, "address", Address, Address.Options())
        api_versions = self._always(name, "api_versions", ApiVersions, ApiVersions.Options(mark=self._mark))
        if building.problems:
            return None
        return ClusterInForce(tuple(plugins), address, api_versions, speaks, seals)

    def listener(self, name: str, cluster: ClusterInForce | None, in_use: Iterable[Plugin]) -> ListenerInForce | None:
        """What is to be in force at a listener; None where something could not be made."""
        building, declared = self.building, self._config.listeners[name]
        tls, judge = None, None
        with building.part():
            if declared.tls is not None:
                from proxy.net.tls.clients import ClientTls  # reads certificates: 10 MB, only where there are any

                make = partial(ClientTls, name, declared, declared.tls, others=self._others)
                tls = building.get((CERTIFICATES, "listener", name), (declared.tls, declared.advertise), make)
        with building.part():
            if declared.sasl is not None:
                judge = authority(building, name, declared.sasl, self._config.limits.first_frame)
        if cluster is None or building.problems:
            return None
        identities = cluster.identity and cluster.identity.identities
        later = judge is not None and identities is not None and identities.by_client
        current = self._authentication(name, judge, identities if later else None)
        for authentication in (*in_use, current):
            plugins = (authentication, cluster.address, *cluster.plugins, cluster.api_versions)
            filters = building.get((FILTERS, name, authentication), _read_by(plugins), partial(Filters, plugins))
        return ListenerInForce(filters, later, tls)

    def _authentication(self, name: str, judge: ListenerAuthority | None, identities: Identities | None) -> Plugin:
        cluster = self._config.listeners[name].cluster
        if judge is None:
            claim = self._config.clusters[cluster].principal_claim
            options = SaslInspected.Options(principal_claim=claim)
            return self._always(cluster, "sasl_inspected", SaslInspected, options, name)
        steps = None if identities is None else partial(introduce_later, identities)
        terminates = SaslTerminated.Options(authority=judge, introduce=steps)
        return self._always(cluster, "sasl_terminated", SaslTerminated, terminates, name, (judge, identities))

    def _always(
        self, cluster: str, name: str, plugin: type[Plugin], options: Options, whose: str = "", of: object = None
    ) -> Plugin:
        """One of those that no file names; `whose`: of which listener."""
        use = PluginUse(name, plugin, options)
        return self._plugin(cluster, name, use, use if of is None else of, whose)

    def _plugin(self, cluster: str, called: str, use: PluginUse, of: object, whose: str = "") -> Plugin:
        make = partial(HostedPlugin, use, cluster, self._host, called)
        return self.building.get((PLUGIN, cluster, called, whose), of, make).plugin


def build(
    config: Config,
    before: GatewaySnapshot | None,
    host: PluginHost,
    mark: str,
    in_use: Iterable[tuple[str, Plugin]] = (),
    *,
    others: bool = False,
) -> GatewaySnapshot:
    """Build what is to be in force. Raises StartError with all reasons why it cannot be.

    `mark` is the client id of this proxy; `in_use` is what clients of each listener authenticate by that are there;
    `others`: other workers listen on the same ports.
    """
    builder = _Builder(config, before, host, mark, others=others)
    clusters = {name: found for name in config.clusters if (found := builder.cluster(name)) is not None}
    listeners: dict[str, ListenerInForce] = {}
    for name, declared in config.listeners.items():
        used = [authentication for listener, authentication in in_use if listener == name]
        listener = builder.listener(name, clusters.get(declared.cluster), used)
        if listener is not None:
            listeners[name] = listener
    if builder.building.problems:
        raise StartError(*builder.building.problems)
    return GatewaySnapshot(config, clusters, listeners, builder.building.built)
