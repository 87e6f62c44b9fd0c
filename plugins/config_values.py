"""Config values: brokers' configurations have addresses in their text, and DescribeConfigs shows them.

Rules:
* A listener's address becomes the one that clients are given for that broker; its name stays.
* A quorum voter's address becomes that of its node, or nobody's where no node id is there. A value that is only a host
  name becomes the advertised host.
* ZooKeeper has no advertised address: its value is hidden, as a broker hides a sensitive one.
* A value with very many voters is no broker's. It is hidden too: each voter would become an address.
* The value of a synonym (the same setting from a file, or by default) is rewritten in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from proxy.plugin import DescribeConfigsResponse, Endpoint, Topology, read_node_id, turns

BROKER = 4  # a resource type of DescribeConfigs
MOST_VOTERS = 100  # of a quorum; real ones have up to nine

ConfigEntry = DescribeConfigsResponse.Result.Config
Rewrite = Callable[[str, Endpoint, Topology], str | None]

LISTENER = re.compile(r"://[^,\s]*")


def _listeners(value: str, shown: Endpoint, topology: Topology) -> str:
    return LISTENER.sub(f"://{shown}", value)


def _voters(value: str, shown: Endpoint, topology: Topology) -> str | None:
    if value.count(",") >= MOST_VOTERS:
        return None
    return ",".join(_voter(voter, topology) for voter in value.split(",")) if value else value


def _voter(voter: str, topology: Topology) -> str:
    named = voter.partition("@")[0].strip()
    node_id = read_node_id(named)
    place = topology.place(node_id)
    return str(place) if node_id is None else f"{named}@{place}"


def _servers(value: str, shown: Endpoint, topology: Topology) -> str:
    return str(shown) if value else value


REWRITES: dict[str, Rewrite] = {
    "advertised.host.name": lambda value, shown, topology: shown.host,
    "advertised.listeners": _listeners,
    "advertised.port": lambda value, shown, topology: str(shown.port),
    "controller.quorum.bootstrap.servers": _servers,
    "controller.quorum.voters": _voters,
    "host.name": lambda value, shown, topology: shown.host if value else value,
    "listeners": _listeners,
    "port": lambda value, shown, topology: str(shown.port),
    "zookeeper.connect": lambda value, shown, topology: None,
}


def advertise_in(config: ConfigEntry, shown: Endpoint, topology: Topology) -> bool:
    """Rewrite the addresses in one setting of the broker that clients know as `shown`. False: it has none."""
    rewrite = REWRITES.get(config.name)
    if rewrite is None:
        return False
    settings: list[ConfigEntry | ConfigEntry.Synonym] = [config, *config.synonyms]
    for setting in turns(settings):
        if setting.value is not None and setting.name in REWRITES:
            setting.value = REWRITES[setting.name](setting.value, shown, topology)
    return True
