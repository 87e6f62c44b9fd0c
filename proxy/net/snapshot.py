"""Snapshot: everything in force in one worker. It never changes. Another may replace it (`snapshot_builder.py`)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from proxy.auth.authority import ListenerAuthority
from proxy.auth.identity import Identities
from proxy.config import Config
from proxy.core.filters import Filters
from proxy.core.limits import Limits
from proxy.core.plugin import Plugin
from proxy.net.authorities import CREDENTIALS, KEYS, UpstreamIdentity
from proxy.net.building import Built, Key
from proxy.net.hosted import HostedPlugin
from proxy.net.tls.brokers import BrokerTls
from proxy.net.watching import Watched

if TYPE_CHECKING:
    from proxy.net.fetching import FetchedKeys
    from proxy.net.tls.clients import ClientTls

PLUGIN, FILTERS, CERTIFICATES = "plugin", "filters", "certificates"  # kinds of built things


@dataclass(frozen=True, slots=True)
class ClusterInForce:
    """What is in force for one cluster: the plugins that the configuration names, and the built-in ones."""

    plugins: tuple[Plugin, ...]
    address: Plugin
    api_versions: Plugin
    identity: UpstreamIdentity | None
    tls: BrokerTls | None


@dataclass(frozen=True, slots=True)
class ListenerInForce:
    """What is in force for the clients of one listener."""

    filters: Filters
    authority: ListenerAuthority | None
    log_in_later: bool  # the proxy's identity at brokers depends on the client
    tls: ClientTls | None


class GatewaySnapshot:
    """Everything in force. `limits` are the limits of each link. `built` is everything that was built, by key."""

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
        """The filters for clients of a listener that authenticate by this plugin."""
        found = self._filters.get((listener, authentication))
        if found is None:  # such clients came while this snapshot was built
            _, *rest = self.listeners[listener].filters.plugins
            found = self._filters[listener, authentication] = Filters([authentication, *rest])
        return found

    def authority(self, listener: str) -> ListenerAuthority | None:
        """The authority that checks the clients of a listener. None: there is none, or no such listener."""
        found = self.listeners.get(listener)
        return None if found is None else found.authority

    def identities(self, cluster: str) -> Identities | None:
        """The proxy's identities at a cluster. None: there are none, or no such cluster."""
        found = self.clusters.get(cluster)
        return None if found is None or found.identity is None else found.identity.identities

    @property
    def all_filters(self) -> Iterable[Filters]:
        """The filters of all listeners."""
        return self._filters.values()

    @property
    def is_outdated(self) -> bool:
        """Does a plugin now read other requests or responses than when the filters were made?"""
        filters = (made for key, made in self.built.items() if key[0] == FILTERS)
        return any(made.of != read_by(made.thing.plugins) for made in filters)

    @property
    def hosted(self) -> Sequence[HostedPlugin]:
        """All plugins as they run."""
        return self._things(PLUGIN)

    @property
    def fetched(self) -> Sequence[FetchedKeys]:
        """Keys that are fetched from a URL."""
        return self._things(KEYS)

    @property
    def watched(self) -> Sequence[Watched]:
        """The files to watch for changes."""
        return [
            *(file for hosted in self.hosted for file in hosted.watched),
            *(("credentials", file) for file in self._things(CREDENTIALS)),
            *(("certificates", tls.watched) for tls in self._things(CERTIFICATES)),
        ]

    def _things(self, kind: str) -> list[Any]:
        return [made.thing for key, made in self.built.items() if key[0] == kind]


def read_by(plugins: tuple[Plugin, ...]) -> tuple[tuple[Plugin, Hashable], ...]:
    """The input of filters: plugins, and what each of them reads."""
    return tuple((plugin, plugin.reads) for plugin in plugins)
