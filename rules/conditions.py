"""Conditions: what else must hold of a client and of the moment for a rule to match.

# A condition answers true, false, or None where what it asks for is not known.
# A client without a client id has an empty one (Kafka's RequestHeader does the same); without SASL, no mechanism.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass

from rules.hosts import Host
from rules.hours import Hours
from rules.model import Acl
from rules.values import Pattern


@dataclass(frozen=True, slots=True)
class Client:
    """Who asks. None: not known; "": known to be none.

    `principal` is `Type:name`, `host` the address as Java prints it (`hosts.java_text`).
    """

    principal: str
    host: str | None = None
    client_id: str | None = None
    listener: str | None = None
    mechanism: str | None = None
    tls: bool | None = None


Condition = Callable[[Client, float | None], bool | None]


def conditions(acl: Acl) -> tuple[Condition, ...]:
    """All that must hold."""
    return tuple(_conditions(acl))


def _conditions(acl: Acl) -> Iterator[Condition]:
    if acl.from_ is not None and not any(host.is_anywhere for host in acl.from_):
        yield _host(acl.from_)
    if acl.client_id is not None:
        yield _client_id(acl.client_id)
    if acl.listener is not None:
        yield _listener(frozenset(acl.listener))
    if acl.mechanism is not None:
        yield _mechanism(frozenset(acl.mechanism))
    if acl.tls is not None:
        yield _tls(acl.tls)
    if acl.during is not None:
        yield _during(acl.during)


def _host(hosts: tuple[Host, ...]) -> Condition:
    texts = frozenset(host.text for host in hosts if host.network is None)
    networks = tuple(host for host in hosts if host.network is not None)

    def holds(client: Client, at: float | None) -> bool | None:
        if client.host is None:
            return None
        return client.host in texts or any(network.holds(client.host) for network in networks)

    return holds


def _client_id(patterns: tuple[Pattern, ...]) -> Condition:
    def holds(client: Client, at: float | None) -> bool | None:
        known = client.client_id
        return None if known is None else any(pattern.holds(known) for pattern in patterns)

    return holds


def _listener(names: Container[str]) -> Condition:
    return lambda client, at: None if client.listener is None else client.listener in names


def _mechanism(names: Container[str]) -> Condition:
    return lambda client, at: None if client.mechanism is None else client.mechanism in names


def _tls(wanted: bool) -> Condition:
    return lambda client, at: None if client.tls is None else client.tls is wanted


def _during(hours: Hours) -> Condition:
    return lambda client, at: None if at is None else hours.holds(at)
