"""Kafka's releases: which versions of each API the brokers of a release accept (`release_tables.py`).

Rules:
* A release that is not listed is as the newest listed one before it: 3.9.2 is 3.9, and 0.10.2.2 is 0.10.2.
"""

from functools import cache

from proxy.protocol.api import api_named
from proxy.protocol.release_tables import KRAFT, ZOOKEEPER


def releases(*, zookeeper: bool | None = None) -> list[str]:
    """The releases that changed something, oldest first: of both lines, or of the one asked for."""
    names = set[str]()
    if zookeeper is not False:
        names.update(ZOOKEEPER)
    if zookeeper is not True:
        names.update(KRAFT)
    return sorted(names, key=_ordinal)


def accepted(release: str, api_key: int, *, zookeeper: bool = False) -> range | None:
    """The versions of an API that a broker of this release accepts; None if it does not have the API.

    A release without KRaft (before 2.8) is taken as one with ZooKeeper. Raises ValueError for a text that is no release
    of Kafka since 0.8.0, and with `zookeeper` for a release that has no ZooKeeper any more.
    """
    return accepted_apis(release, zookeeper=zookeeper).get(api_key)


def accepted_apis(release: str, *, zookeeper: bool = False) -> dict[int, range]:
    """The versions of all APIs that a broker of this release accepts, by API key."""
    wanted = _ordinal(release)
    if zookeeper and wanted >= (4,):
        raise ValueError(f"Kafka {release} has no ZooKeeper; the last release that has is 3.9")
    line = ZOOKEEPER if zookeeper or wanted < _ordinal(next(iter(KRAFT))) else KRAFT
    listed = [name for name in line if _ordinal(name) <= wanted]
    if not listed:
        raise ValueError(f"Kafka {release} is older than this table; it begins with {next(iter(line))}")
    return dict(_history(line is ZOOKEEPER)[listed[-1]])


def _ordinal(release: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in release.split("."))
    except ValueError:
        raise ValueError(f"{release!r} is no release of Kafka; write it as 3.9 or 0.10.2") from None


@cache
def _history(zookeeper: bool) -> dict[str, dict[int, range]]:
    """Every release of a line with all APIs that it has."""
    history = {}
    current: dict[int, range] = {}
    for release, changes in (ZOOKEEPER if zookeeper else KRAFT).items():
        for change in filter(None, changes.split(",")):
            name, versions = change.split()
            api = api_named(name)
            assert api is not None, name
            if versions == "gone":
                del current[api.key]
            else:
                oldest, _, newest = versions.partition("-")
                current[api.key] = range(int(oldest), int(newest or oldest) + 1)
        history[release] = dict(current)
    return history
