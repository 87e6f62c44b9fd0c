"""Snapshot builder: from a configuration and the previous snapshot to a new snapshot.

Rules:
* A snapshot is built completely, in a thread, or not at all.
* Whatever has the same options is kept from the previous snapshot (`building.py`): plugins, authorities, files, TLS
  contexts, and the filters of a listener whose plugins are all the same.
* SASL belongs to a connection: the connection keeps the plugin that it began with, whatever its listener has now. But
  who may authenticate again, the listener's present authority says.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from plugins.address import Address
from plugins.api_versions import ApiVersions
from plugins.sasl_absent import SaslAbsent
from plugins.sasl_inspected import SaslInspected
from plugins.sasl_terminated import SaslTerminated
from proxy.auth.authority import ListenerAuthority
from proxy.auth.identity import Identities, log_in_later
from proxy.config import Config
from proxy.config.plugins import PluginUse, unique_names
from proxy.core.filters import Filters
from proxy.core.plugin import Options, Plugin
from proxy.net.authorities import authority, upstream_identity
from proxy.net.building import Building
from proxy.net.hosted import HostedPlugin
from proxy.net.plugin_host import PluginHost
from proxy.net.process import StartError
from proxy.net.snapshot import CERTIFICATES, FILTERS, PLUGIN, ClusterInForce, GatewaySnapshot, ListenerInForce, read_by
from proxy.net.tls.brokers import BrokerTls


class SnapshotBuilder:
    """Builds one snapshot."""

    def __init__(
        self, config: Config, before: GatewaySnapshot | None, host: PluginHost, mark: str, *, shared: bool
    ) -> None:
        self.building = Building({} if before is None else before.built)
        self._config = config
        self._host = host
        self._mark = mark
        self._shared = shared

    def cluster(self, name: str) -> ClusterInForce | None:
        """What is to be in force for a cluster. None if a part could not be made."""
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
        # One for all listeners: they show the same brokers, each at its own addresses.
        address = self._always(name, "address", Address, Address.Options())
        api_versions = self._always(name, "api_versions", ApiVersions, ApiVersions.Options(mark=self._mark))
        if building.problems:
            return None
        return ClusterInForce(tuple(plugins), address, api_versions, speaks, seals)

    def listener(self, name: str, cluster: ClusterInForce | None, in_use: Iterable[Plugin]) -> ListenerInForce | None:
        """What is to be in force at a listener. None if a part could not be made."""
        building, declared = self.building, self._config.listeners[name]
        tls, judge = None, None
        with building.part():
            if declared.tls is not None:
                from proxy.net.tls.clients import ClientTls  # importing it takes 10 MB, only for certificates

                make = partial(ClientTls, name, declared, declared.tls, shared=self._shared)
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
            filters = building.get((FILTERS, name, authentication), read_by(plugins), partial(Filters, plugins))
        return ListenerInForce(filters, judge, later, tls)

    def _authentication(self, name: str, judge: ListenerAuthority | None, identities: Identities | None) -> Plugin:
        cluster = self._config.listeners[name].cluster
        if judge is None and self._config.clusters[cluster].sasl is not None:
            return self._always(cluster, "sasl_absent", SaslAbsent, SaslAbsent.Options(), name)
        if judge is None:
            claim = self._config.clusters[cluster].principal_claim
            options = SaslInspected.Options(principal_claim=claim)
            return self._always(cluster, "sasl_inspected", SaslInspected, options, name)
        ours = partial(_identities_in_force, self._host, cluster)
        steps = None if identities is None else partial(log_in_later, identities, ours)
        present = partial(_authority_in_force, self._host, name)
        terminates = SaslTerminated.Options(authority=judge, log_in=steps, present=present)
        return self._always(cluster, "sasl_terminated", SaslTerminated, terminates, name, (judge, identities))

    def _always(
        self, cluster: str, name: str, plugin: type[Plugin], options: Options, whose: str = "", of: object = None
    ) -> Plugin:
        """A plugin that no file names. `whose`: the listener that it belongs to, if any."""
        use = PluginUse(name, plugin, options)
        return self._plugin(cluster, name, use, use if of is None else of, whose)

    def _plugin(self, cluster: str, called: str, use: PluginUse, of: object, whose: str = "") -> Plugin:
        make = partial(HostedPlugin, use, cluster, self._host, called)
        return self.building.get((PLUGIN, cluster, called, whose), of, make).plugin


def _authority_in_force(host: PluginHost, listener: str) -> ListenerAuthority | None:
    return host.authority(listener)  # asked anew each time: the gateway sets it later


def _identities_in_force(host: PluginHost, cluster: str) -> Identities | None:
    return host.identities(cluster)


def build(
    config: Config,
    before: GatewaySnapshot | None,
    host: PluginHost,
    mark: str,
    in_use: Iterable[tuple[str, Plugin]] = (),
    *,
    shared: bool = False,
) -> GatewaySnapshot:
    """Build a snapshot. Raises StartError with all reasons why it cannot be built.

    `mark` is the client id of this proxy. `in_use` has listeners, each with a plugin that authenticated a connection.
    `shared`: other workers listen on the same ports.
    """
    builder = SnapshotBuilder(config, before, host, mark, shared=shared)
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
