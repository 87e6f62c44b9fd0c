"""Addresses: what can be the address of a broker.

Rules:
* A node id is 0 or more, and has 31 bits; a port is 1 to 65535. Node id -1 means "no broker", port 0 "nobody listens".
* A host is an IP address or a DNS name, which is what Kafka allows in `advertised.listeners` too. Any other text cannot
  be looked up: the resolver would raise an error of its own.
"""

import re
from ipaddress import IPv6Address, ip_address

LAST_PORT = 65_535
LAST_NODE_ID = 2**31 - 1
LONGEST = 253  # signs in a name (RFC 1035)
SHOWN = 60  # signs of a host in a message

_NAME = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63})*\.?")
_IPV6 = re.compile(r"([0-9A-Fa-f:.]{2,45})(?:%[A-Za-z0-9._-]{1,15})?")


def is_name(text: str) -> bool:
    """Is this a host name, or an IPv4 address?"""
    return len(text) <= LONGEST and _NAME.fullmatch(text) is not None


def is_ipv6(text: str) -> bool:
    """Is this an IPv6 address, without brackets?"""
    match = _IPV6.fullmatch(text)
    if match is None:
        return False
    try:
        IPv6Address(match[1])
    except ValueError:
        return False
    return True


def no_port(port: int) -> str | None:
    """Why nobody can listen on this port; None if somebody can."""
    return None if 1 <= port <= LAST_PORT else f"a port is 1 to {LAST_PORT}, and this one {port}"


def unusable(node_id: int, host: str, port: int) -> str | None:
    """Why this cannot be a broker; None if it can."""
    if node_id < 0:
        return f"a broker has no id below 0, and this one {node_id}"
    if (why := no_port(port)) is not None:
        return why
    if not (is_name(host) or is_ipv6(host)):
        return f"{host[:SHOWN]!r}{'...' if len(host) > SHOWN else ''} is neither a host name nor an IP address"
    return None


def is_loopback(host: str) -> bool:
    """Does this host always lead back to the machine that uses it?"""
    if host.rstrip(".").lower() == "localhost":
        return True
    try:
        return ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False
