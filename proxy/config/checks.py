"""Checks across options: conditions that involve more than one option.

Rules:
* A port belongs to one listener: its bootstrap port, then one for each broker id. The number of ids is known only once
  the brokers are, so a listener with room for fewer than ROOM ids below the next port is a warning, not an error. A
  listener with `tls.hosts` has its bootstrap port alone.
"""

from collections.abc import Collection, Iterable, Iterator
from ipaddress import ip_address

from proxy.config.model import ClusterOptions, Config, ListenerOptions
from proxy.config.values import HostPort
from proxy.core.addresses import LAST_PORT, is_loopback
from proxy.text.places import KeyPath
from proxy.text.problems import Finding
from proxy.text.words import nearest

ROOM = 10
LOOPBACK = "127.0.0.1"  # what "localhost" stands for
EVERYWHERE = "*"  # in place of a host: every address of the machine


def findings(config: Config, known: Collection[str] | None) -> Iterator[Finding]:
    """Everything wrong between options that are each valid.

    `known` has the names of all clusters in the file, also of those with a wrong value. None: they cannot be told.
    """
    yield from _listeners(config, known)
    yield from _ports(config)
    yield from _loops(config)
    yield from _plugins(config, known)
    yield from _admin(config)
    yield from _security(config)


def _security(config: Config) -> Iterator[Finding]:
    sections: list[ClusterOptions | ListenerOptions] = [*config.clusters.values(), *config.listeners.values()]
    # The code that reads certificates, keys and users takes 20 MB, so it is imported only where it is needed.
    if any(section.tls is not None for section in sections):
        from proxy.config.tls_checks import findings as tls_findings

        yield from tls_findings(config)
    if any(section.sasl is not None for section in sections):
        from proxy.config.sasl_checks import findings as sasl_findings

        yield from sasl_findings(config)


def _listeners(config: Config, known: Collection[str] | None) -> Iterator[Finding]:
    for name, listener in config.listeners.items():
        path = ("listeners", name)
        if known is not None and listener.cluster not in known:
            way_out = nearest(listener.cluster, known)
            yield Finding((*path, "cluster"), f'unknown cluster "{listener.cluster}"; {way_out}')
        if listener.bind.is_wildcard and listener.advertise is None:
            way_out = 'add "advertise:" with the name by which they reach this machine'
            yield Finding((*path, "bind"), f"clients cannot connect to {listener.bind.host}; {way_out}")
        if listener.bind.port == LAST_PORT and not _has_one_port(listener):
            yield Finding((*path, "bind"), f"no port is left for brokers after {LAST_PORT}; choose a lower one")


def _ports(config: Config) -> Iterator[Finding]:
    below: dict[str, tuple[int, str]] = {}  # by host: the highest port so far and its listener; "": of all hosts
    brokers: dict[str, tuple[int, str]] = {}  # the same of listeners that have a port for each broker
    for name, listener in sorted(config.listeners.items(), key=lambda item: item[1].bind.port):
        path, port, host = ("listeners", name, "bind"), listener.bind.port, _host(listener.bind)
        hosts = {""} if host == EVERYWHERE else {host, EVERYWHERE}
        taken, holder = _highest(below, hosts)
        needed, lower = _highest(brokers, hosts)
        if taken == port:
            yield Finding(path, f"{holder} has port {port} already; choose another, more than {ROOM} away")
        elif port - needed <= ROOM:
            yield _little_room(path, lower, port - needed - 1)
        below[host] = below[""] = port, f'listener "{name}"'
        if not _has_one_port(listener):
            brokers[host] = brokers[""] = below[host]
    if config.admin is None:
        return
    for name, listener in config.listeners.items():
        above = config.admin.bind.port - listener.bind.port
        if not _same_host(listener.bind, config.admin.bind):
            continue
        if above == 0:
            yield Finding(("admin", "bind"), f'listener "{name}" has port {listener.bind.port} already; choose another')
        elif 0 < above <= ROOM and not _has_one_port(listener):
            yield _little_room(("admin", "bind"), f'listener "{name}"', above - 1)


def _highest(ports: dict[str, tuple[int, str]], hosts: Iterable[str]) -> tuple[int, str]:
    """The highest of these ports on these hosts, and its listener; a port far below all if there is none."""
    return max((ports[host] for host in hosts if host in ports), default=(-ROOM, ""))


def _little_room(path: KeyPath, lower: str, ids: int) -> Finding:
    fact = f"{lower} needs this port for a broker of id {ids}"
    return Finding(path, f"{fact}; leave at least {ROOM} ports between them", warning=True)


def _loops(config: Config) -> Iterator[Finding]:
    listening = {(_host(it.bind), it.bind.port): name for name, it in config.listeners.items()}
    for name, cluster in config.clusters.items():
        for index, address in enumerate(cluster.bootstrap):
            hosts = (_host(address), EVERYWHERE) if is_loopback(address.host) else (_host(address),)
            loop = next((listening[host, address.port] for host in hosts if (host, address.port) in listening), None)
            if loop is not None:
                path = ("clusters", name, "bootstrap", index)
                yield Finding(path, f'{address} is listener "{loop}" of this proxy; write the address of a broker')


def _plugins(config: Config, known: Collection[str] | None) -> Iterator[Finding]:
    for index, use in enumerate(config.plugins):
        unknown = () if known is None else use.unknown_clusters(known)
        for finding in (*use.hidden(), *unknown):
            yield finding._replace(path=("plugins", index, use.name, *finding.path))


def _admin(config: Config) -> Iterator[Finding]:
    admin = config.admin
    takes_faults = any(use.name == "faults" for use in config.plugins)
    if admin is not None and takes_faults and admin.token is None and not is_loopback(admin.bind.host):
        fact = f"others reach {admin.bind}, so without a token nobody may add faults or see clients there"
        yield Finding(("admin", "bind"), f'{fact}; add "token: ${{DOORKEEPER_TOKEN}}", or bind 127.0.0.1', warning=True)


def _has_one_port(listener: ListenerOptions) -> bool:
    """Do all brokers share the port of `bind`, told apart by their host names?"""
    return listener.tls is not None and listener.tls.hosts is not None


def _same_host(one: HostPort, two: HostPort) -> bool:
    return _host(one) == _host(two) or one.is_wildcard or two.is_wildcard


def _host(address: HostPort) -> str:
    """The host in one notation, of those that an address has."""
    if address.is_wildcard:
        return EVERYWHERE
    try:
        return str(ip_address(address.host))
    except ValueError:
        host = address.host.rstrip(".").lower()
        return LOOPBACK if host == "localhost" else host
