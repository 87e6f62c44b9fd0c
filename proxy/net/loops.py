"""Loops: detects a broker's address that leads back to this proxy, under any name and through any intermediary.

Each connection that comes back would be dialled again, without end. One client's connection would become as many as the
limits allow.

Rules:
* An address is checked before it is dialled: is its port one of ours, on an address of this machine? Names are
  resolved for that. The check costs nothing if none of our ports has that number, which is nearly always so. For a
  broker that is dialled elsewhere (`via`), that place is checked: a proxy may have the address that its brokers
  advertise.
* The check does not see through a forwarded port or another Doorkeeper. So all requests of the proxy itself carry a
  mark: its client id, with a random number in it. Doorkeepers pass it on. A listener that receives its own mark answers
  with an error that no broker gives there (`plugins/api_versions.py`), and the error travels back.
* Where the proxy authenticates to brokers, it first looks who asks (`marked.py`). It logs in with the mark of
  the Doorkeeper that asks, or with its own: so the mark travels on before there is a link.
* Requests of clients are neither marked nor changed.
* All workers of a proxy share the number, since they share their ports.
"""

from __future__ import annotations

import math
import socket
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address

import structlog
import trio

from proxy.core.topology import Endpoint
from proxy.net.dial import UnreachableError, Via
from proxy.net.listeners import Listener
from proxy.net.tasks import Tasks

log = structlog.get_logger()

COMES_BACK = "what is sent there comes back to this proxy"
ANY_PORT = 9  # nothing is sent to it
WAY_OUT = "give the broker an address of its own in its advertised.listeners, or correct bootstrap or via"


class LoopError(UnreachableError):
    """An address that leads back to this proxy."""


class Loops:
    """Detects loops among the addresses of one cluster. `listeners`: all of this proxy. `via`: see `dial`."""

    def __init__(self, cluster: str, mark: str, listeners: Iterable[Listener], tasks: Tasks, via: Via) -> None:
        self.mark = mark
        self._cluster = cluster
        self._listeners = listeners
        self._via = via
        self._tasks = tasks

    async def check(self, endpoint: Endpoint, until: float = math.inf) -> None:
        """Raises LoopError if this address leads to a port of ours, TooSlowError if that is not known at `until`."""
        place = self._via.get(endpoint, endpoint)
        for listener in tuple(self._listeners):  # there may be others while names are looked up
            if not listener.has(place.port):
                continue
            with trio.fail_at(until):
                leads_back = await _same_place(place, listener.bind.host)
            if leads_back:
                raise self.found(endpoint, f"it is a port of listener {listener.name} of this proxy")

    def found(self, endpoint: Endpoint, why: str = COMES_BACK) -> LoopError:
        """Log and count an address that leads back here. Returns the error."""
        self._tasks.counters.loops += 1
        told = {"cluster": self._cluster, "at": str(endpoint), "why": why, "way_out": WAY_OUT}
        self._tasks.complaints.tell(log.error, "a broker's address is a loop", self._cluster, endpoint, **told)
        return LoopError(endpoint, why)


async def _same_place(endpoint: Endpoint, bound: str) -> bool:
    """Would a connection to `endpoint` reach a listener on the host `bound`?"""
    listening = await _addresses(bound, endpoint.port)
    everywhere = any(address.is_unspecified for address in listening)
    for address in await _addresses(endpoint.host, endpoint.port):
        if address.is_unspecified:
            address = IPv4Address("127.0.0.1") if address.version == 4 else IPv6Address("::1")
        if address in listening or (everywhere and is_here(address)):
            return True
    return False


async def _addresses(host: str, port: int) -> set[IPv4Address | IPv6Address]:
    """The addresses of a host. Empty if the name does not resolve: dialling it will report that."""
    try:
        found = await trio.socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, ValueError):
        return set()
    return {_plain(str(address[0])) for _, _, _, _, address in found}


def _plain(text: str) -> IPv4Address | IPv6Address:
    address = ip_address(text.partition("%")[0])
    return getattr(address, "ipv4_mapped", None) or address


def is_here(address: IPv4Address | IPv6Address) -> bool:
    """Is this an address of this machine? If so, the kernel chooses the same address as the source of a route to it."""
    if address.is_loopback:
        return True
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((str(address), ANY_PORT))
            return ip_address(probe.getsockname()[0]) == address
    except OSError:
        return False  # there is no route to it
