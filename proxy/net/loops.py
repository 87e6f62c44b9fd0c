"""Loops: a broker's address that leads back to this proxy, whatever it is called and whoever stands between.

Every connection that comes back would be dialled again, without end: one of a client becomes as many as there may be.

Rules:
* An address is looked at before it is dialled: is its port one of ours, on an address of this machine? Names are looked
  up for that. It costs nothing where no port of ours has that number, which is what nearly always holds. Of a broker
  that is dialled elsewhere (`via`) that place is looked at: a proxy may have the address that its brokers advertise.
* A port that is forwarded, or another Doorkeeper, does not show like that. So whatever the proxy asks for itself
  carries a mark, its client id with a random number in it. Doorkeepers pass it on; a listener that is asked with its
  own mark answers with an error that no broker gives there (`plugins/api_versions.py`), and that travels back.
* Nothing of a client's is marked or changed.
* The number is that of all workers of one proxy: they stand behind the same ports.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address

import structlog
import trio

from proxy.core.topology import Endpoint
from proxy.net.dial import DIRECTLY, UnreachableError, Via
from proxy.net.listeners import Listener
from proxy.net.tasks import Tasks

log = structlog.get_logger()

ANY_PORT = 9  # of what is not even sent to
WAY_OUT = "give the broker an address of its own in its advertised.listeners, or correct bootstrap or via"


class LoopError(UnreachableError):
    """An address that leads back here."""


class Loops:
    """Knows what of the addresses of one cluster leads back. `listeners`: all of this proxy; `via`: see `dial`."""

    def __init__(
        self, cluster: str, mark: str, listeners: Iterable[Listener], tasks: Tasks, via: Via = DIRECTLY
    ) -> None:
        self.mark = mark
        self._cluster = cluster
        self._listeners = listeners
        self._via = via
        self._tasks = tasks

    async def check(self, endpoint: Endpoint) -> None:
        """Raises LoopError where what is dialled for this address is a port of ours."""
        place = self._via.get(endpoint, endpoint)
        for listener in tuple(self._listeners):  # there may be others while names are looked up
            if listener.has(place.port) and await _same_place(place, listener.bind.host):
                raise self.found(endpoint, f"it is a port of listener {listener.name} of this proxy")

    def found(self, endpoint: Endpoint, why: str = "what is sent there comes back to this proxy") -> LoopError:
        """This address leads back here: say so, and count."""
        self._tasks.counters.loops += 1
        told = {"cluster": self._cluster, "at": str(endpoint), "why": why, "way_out": WAY_OUT}
        self._tasks.complaints.tell(log.error, "a broker's address is a loop", self._cluster, endpoint, **told)
        return LoopError(endpoint, why)


async def _same_place(endpoint: Endpoint, bound: str) -> bool:
    """Does a connection to `endpoint` arrive where a listener on the host `bound` listens?"""
    listening = await _addresses(bound, endpoint.port)
    everywhere = any(address.is_unspecified for address in listening)
    for address in await _addresses(endpoint.host, endpoint.port):
        if address.is_unspecified:
            address = IPv4Address("127.0.0.1") if address.version == 4 else IPv6Address("::1")
        if address in listening or (everywhere and is_here(address)):
            return True
    return False


async def _addresses(host: str, port: int) -> set[IPv4Address | IPv6Address]:
    """The addresses of a host; none where it has none, which whoever dials it will find out."""
    try:
        found = await trio.socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, ValueError):
        return set()
    return {_plain(str(address[0])) for _, _, _, _, address in found}


def _plain(text: str) -> IPv4Address | IPv6Address:
    address = ip_address(text.partition("%")[0])
    return getattr(address, "ipv4_mapped", None) or address


def is_here(address: IPv4Address | IPv6Address) -> bool:
    """Is this an address of this machine? The kernel says so by the way that it would take: from there to there."""
    if address.is_loopback:
        return True
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((str(address), ANY_PORT))
            return ip_address(probe.getsockname()[0]) == address
    except OSError:
        return False  # there is no way there
