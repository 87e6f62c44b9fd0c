"""Hosts: addresses as Java prints them, and networks.

Rules:
* Kafka compares a host as text with `InetAddress.getHostAddress()`: IPv6 in eight groups of hex without leading
  zeros, never shortened (0:0:0:0:0:0:0:1); an IPv4 address inside IPv6 is plain IPv4. A text that Java never prints
  never matches.
* A network (10.0.0.0/8) is ours: it matches addresses of its own family, whatever their spelling.
"""

import re
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import NamedTuple

from proxy.text.words import shown, wrong
from rules.vocabulary import WILDCARD

IpAddress = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


class HostPattern(NamedTuple):
    """Where a client may come from: an address as text, or a network, or anywhere (`*`)."""

    text: str
    network: Network | None = None

    @property
    def is_anywhere(self) -> bool:
        return self.text == WILDCARD

    @property
    def written(self) -> str | dict[str, str]:
        """The value as written in a file."""
        looks_like_more = "/" in self.text or not self.text
        return {"literal": self.text} if self.network is None and looks_like_more else self.text

    def holds(self, host: str) -> bool:
        """Whether this matches a client's address, given as Java prints it."""
        if self.network is None:
            return self.text in (WILDCARD, host)
        at = address(host)
        return at is not None and at in self.network


def parse(value: object) -> HostPattern:
    """Read `*`, an address, a network in CIDR notation, or `{literal: text}` for a text that may look like one."""
    if isinstance(value, dict):
        text = value.get("literal")
        if len(value) != 1 or not isinstance(text, str):
            raise wrong("a mapping is no host", 'write "10.1.2.3", "10.0.0.0/8" or "{literal: text}"')
        return HostPattern(text)
    if not isinstance(value, str) or not value:
        raise wrong(f"{shown(value)} is not a host", 'write an address, a network as "10.0.0.0/8", or "*"')
    return HostPattern(value, _network(value)) if "/" in value else HostPattern(value)


def _network(text: str) -> Network:
    if "%" in text:  # ipaddress reads it, and passes over it: the network is on every interface
        plain = re.sub("%[^/]*", "", text)
        raise wrong(f'"{text}" names an interface, which a network cannot', f'write "{plain}"')
    try:
        meant = ip_network(text, strict=False)
    except ValueError:
        raise wrong(f'"{text}" is not a network', 'write e.g. "10.0.0.0/8" or "fd00::/8"') from None
    try:
        return ip_network(text)
    except ValueError:
        raise wrong(f'"{text}" is an address inside a network', f'write "{meant}"') from None


@lru_cache(4096)
def address(text: str) -> IpAddress | None:
    """The address that a text spells, in any spelling; None for anything else."""
    try:
        return ip_address(text)
    except ValueError:
        return None


def client_host(text: str) -> str:
    """The address of a client, as Java prints it. Raises ValueError for any other text: no client comes from there."""
    if address(text) is None:
        raise wrong(f"{shown(text)} is not an IP address", 'write that of a client, e.g. "10.1.2.3" or "::1"')
    return java_text(text)


def java_text(text: str) -> str:
    """An address as Java prints it, the form that rules are compared with; any other text unchanged."""
    at = address(text)
    if not isinstance(at, IPv6Address):
        return text
    if at.ipv4_mapped:
        return str(at.ipv4_mapped)
    plain, percent, scope = text.partition("%")
    groups = ":".join(f"{int(group, 16):x}" for group in IPv6Address(plain).exploded.split(":"))
    return f"{groups}{percent}{scope}"
