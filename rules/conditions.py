"""Conditions: what must hold of the client and of the time for a rule to match. Rules of all kinds share them.

Rules:
* A condition answers true, false, or None where the property that it tests is not known.
* A client without a client id has an empty one (Kafka's RequestHeader does the same). Without SASL the mechanism is
  empty.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass

from pydantic import Field, StrictBool

from proxy.text.file import Section
from rules.hosts import HostPattern
from rules.hours import Hours
from rules.values import Given, Hosts, Mechanisms, NameList, Pattern, Patterns


@dataclass(frozen=True, slots=True)
class Client:
    """A client. A property that is None is not known; one that is "" is known to be absent.

    `principal` is `Type:name`, `host` the address as Java prints it (`hosts.java_text`).
    """

    principal: str
    host: str | None = None
    client_id: str | None = None
    listener: str | None = None
    mechanism: str | None = None
    tls: bool | None = None


# Conditions that Kafka's own ACLs lack.
OURS = ("client_id", "listener", "mechanism", "tls", "during")


class Conditions(Section):
    """What a rule may say about the client and the moment, beside what it is about."""

    from_: Given[Hosts] = Field(
        default=None,
        alias="from",
        description="The addresses of clients, as Java prints them, or networks; without it, any.",
        examples=["10.0.0.0/8"],
    )
    client_id: Given[Patterns] = Field(
        default=None, description="The client ids. A client chooses its own.", examples=["alice-*"]
    )
    listener: Given[NameList] = Field(
        default=None, description="The listeners that clients connect to, by name.", examples=["clients"]
    )
    mechanism: Given[Mechanisms] = Field(
        default=None, description="The SASL mechanisms by which clients authenticated.", examples=["SCRAM-SHA-512"]
    )
    tls: Given[StrictBool] = Field(default=None, description="Whether clients connect with TLS.", examples=["true"])
    during: Given[Hours] = Field(
        default=None, description="The hours at which it holds.", examples=["{days: Mon-Fri, hours: 08:00-18:00}"]
    )

    @property
    def ours(self) -> tuple[str, ...]:
        """The conditions of this rule that Kafka's own ACLs lack."""
        networks = ("from",) if any(host.network for host in self.from_ or ()) else ()
        return networks + tuple(option for option in OURS if getattr(self, option) is not None)


Condition = Callable[[Client, float | None], bool | None]


def conditions(said: Conditions) -> tuple[Condition, ...]:
    """All conditions of a rule."""
    return tuple(condition for _, condition in named_conditions(said))


def named_conditions(said: Conditions) -> Iterator[tuple[str, Condition]]:
    """All conditions of a rule, each with the name of its option."""
    if said.from_ is not None and not any(host.is_anywhere for host in said.from_):
        yield "from_", _host(said.from_)
    if said.client_id is not None:
        yield "client_id", _client_id(said.client_id)
    if said.listener is not None:
        yield "listener", _listener(frozenset(said.listener))
    if said.mechanism is not None:
        yield "mechanism", _mechanism(frozenset(said.mechanism))
    if said.tls is not None:
        yield "tls", _tls(said.tls)
    if said.during is not None:
        yield "during", _during(said.during)


def _host(hosts: tuple[HostPattern, ...]) -> Condition:
    texts = frozenset(host.text for host in hosts if host.network is None)
    networks = tuple(host for host in hosts if host.network is not None)

    def holds(client: Client, at: float | None) -> bool | None:
        if client.host is None:
            return None
        return client.host in texts or any(network.holds(client.host) for network in networks)

    return holds


def _client_id(patterns: tuple[Pattern, ...]) -> Condition:
    every = any(pattern.is_every for pattern in patterns)

    def holds(client: Client, at: float | None) -> bool | None:
        known = client.client_id
        # Kafka's exception for names of resources that begin with a "*" does not apply to client ids.
        return None if known is None else every or any(pattern.holds(known) for pattern in patterns)

    return holds


def _listener(names: Container[str]) -> Condition:
    return lambda client, at: None if client.listener is None else client.listener in names


def _mechanism(names: Container[str]) -> Condition:
    return lambda client, at: None if client.mechanism is None else client.mechanism in names


def _tls(wanted: bool) -> Condition:
    return lambda client, at: None if client.tls is None else client.tls is wanted


def _during(hours: Hours) -> Condition:
    return lambda client, at: None if at is None else hours.holds(at)
