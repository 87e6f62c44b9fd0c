"""Dialling a broker: one connection or one reason, within a time limit.

Rules:
* An error is a few words that a person can act on, with the address: `kafka-1:9092: connection refused`.
* A broker that is dialled somewhere else (`via`) keeps its address in all that is said and checked, by TLS too.
* A socket that leaves here is non-blocking and has TCP_NODELAY; whoever takes it closes it.
* A time limit is made where something is waited for, and nowhere else: each costs as much as dialling an address.
"""

import errno
import os
import socket
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

import trio

from proxy.core.addresses import no_port
from proxy.core.topology import Endpoint
from proxy.net.broker_stream import BrokerStream
from proxy.net.outgoing import AnySocket
from proxy.net.resolving import why_unresolved
from proxy.net.tls.brokers import BrokerTls
from proxy.net.tls.handshake import HandshakeError

# trio limits unsent data to 16 KiB, which suits a task per connection. 0 restores the kernel's default.
TCP_NOTSENT_LOWAT = getattr(socket, "TCP_NOTSENT_LOWAT", 25)
KERNEL_DEFAULT = 0
HEAD_START = 0.25  # seconds, as trio has it
NON_BLOCKING = socket.SOCK_STREAM | socket.SOCK_NONBLOCK


# May this address be dialled? Raises TooSlowError at this time of trio's clock.
AddressCheck = Callable[[Endpoint, float], Awaitable[None]]
Via = Mapping[Endpoint, Endpoint]  # where to dial instead
DIRECTLY: Via = {}


class UnreachableError(Exception):
    """A broker that cannot be reached: its address, and why. `stalled`: it neither accepted nor refused in time."""

    def __init__(self, endpoint: Endpoint, why: str, *, stalled: bool = False) -> None:
        super().__init__(f"{endpoint}: {why}")
        self.endpoint = endpoint
        self.why = why
        self.stalled = stalled


class ReservedError(UnreachableError):
    """A broker that answers only authenticated clients."""


async def dial(
    endpoint: Endpoint,
    seconds: float,
    tls: BrokerTls | None = None,
    check: AddressCheck | None = None,
    via: Via = DIRECTLY,
) -> BrokerStream:
    """A connection to `endpoint` for us to speak on, if `check` has nothing against it. Raises UnreachableError."""
    return BrokerStream(await connect(endpoint, seconds, tls, check, via))


async def connect(
    endpoint: Endpoint,
    seconds: float,
    tls: BrokerTls | None = None,
    check: AddressCheck | None = None,
    via: Via = DIRECTLY,
) -> AnySocket:
    """The same connection, as the socket that the reactor takes."""
    until = trio.current_time() + seconds
    place = via.get(endpoint, endpoint) if via else endpoint
    way = f" (dialled at {place})" if place != endpoint else ""
    if (why := no_port(place.port)) is not None:
        raise UnreachableError(endpoint, why)
    try:
        if check is not None:
            await check(endpoint, until)
        connected = await _connect(place, until)
    except trio.TooSlowError:
        raise UnreachableError(endpoint, f"no answer within {round(seconds, 2):g} s{way}", stalled=True) from None
    except OSError as error:
        raise UnreachableError(endpoint, reason(error) + way) from None
    except ValueError:  # the resolver cannot even encode it
        raise UnreachableError(endpoint, "no host has such a name") from None
    if tls is None:
        return connected
    try:
        return await tls.seal(connected, endpoint.host, max(0.0, until - trio.current_time()))
    except HandshakeError as error:
        connected.close()
        raise UnreachableError(endpoint, f"no TLS: {error}") from None
    except BaseException:  # the proxy is about to end
        connected.close()
        raise


async def _connect(endpoint: Endpoint, until: float) -> socket.socket:
    """A connection, made by `until`.

    Where a name has several addresses, trio tries them side by side. That takes 450 us more than the first of them,
    which nearly always answers at once, and so it is tried before, for as long as trio would wait for it.
    """
    family = family_of(endpoint.host)
    if family is not None:
        return await _connect_to(family, endpoint, until)
    with trio.fail_at(until):
        found = await trio.socket.getaddrinfo(*endpoint, type=socket.SOCK_STREAM)
    family, _, _, _, address = found[0]
    is_only = len(found) == 1
    try:
        return await _connect_to(family, address, until if is_only else min(until, trio.current_time() + HEAD_START))
    except (OSError, trio.TooSlowError):
        if is_only:
            raise
    with trio.fail_at(until):
        return plain_socket(await trio.open_tcp_stream(*endpoint))


async def _connect_to(family: socket.AddressFamily, address: tuple[Any, ...], until: float) -> socket.socket:
    connecting = socket.socket(family, NON_BLOCKING)
    try:
        connecting.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        failed = connecting.connect_ex(address)
        if failed == errno.EINPROGRESS:
            failed = connecting.connect_ex(address)  # a broker on this machine has accepted by now
        if failed == errno.EALREADY:
            with trio.fail_at(until):
                await trio.lowlevel.wait_writable(connecting)
            failed = connecting.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if failed:
            raise OSError(failed, os.strerror(failed))
        return connecting
    except BaseException:
        connecting.close()
        raise


@lru_cache(maxsize=1_000)
def family_of(host: str) -> socket.AddressFamily | None:
    """Of an address; None for a name."""
    for family in (socket.AF_INET, socket.AF_INET6):
        with suppress(OSError, ValueError):
            socket.inet_pton(family, host)
            return family
    return None


def reason(error: OSError) -> str:
    """Why a connection failed, in the system's words."""
    cause: BaseException = error.__cause__ or error
    while isinstance(cause, BaseExceptionGroup):  # there is one for each address of the name; the first is shown
        cause = cause.exceptions[0]
    if isinstance(cause, socket.gaierror):
        return why_unresolved(cause)
    if isinstance(cause, OSError) and cause.errno:
        return os.strerror(cause.errno).lower()
    return str(cause)


def plain_socket(stream: trio.SocketStream) -> socket.socket:
    """The stream's socket for use outside trio."""
    plain = socket.socket(fileno=stream.socket.detach())
    plain.setblocking(False)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    plain.setsockopt(socket.IPPROTO_TCP, TCP_NOTSENT_LOWAT, KERNEL_DEFAULT)
    return plain
