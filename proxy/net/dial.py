"""Dialling a broker: one connection or one reason, within a time limit.

Rules:
* An error is a few words that a person can act on, with the address: `kafka-1:9092: connection refused`.
* A broker that is dialled somewhere else (`via`) keeps its address in all that is said and checked, by TLS too.
* A socket that leaves here is a plain non-blocking one with TCP_NODELAY; whoever takes it closes it.
"""

import errno
import os
import socket
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import overload

import trio

from proxy.core.topology import Endpoint
from proxy.net.tls.brokers import BrokerTls, TlsStream
from proxy.net.tls.handshake import HandshakeError
from proxy.net.tls.sockets import TlsSocket

# trio limits unsent data to 16 KiB, which suits a task per connection. 0 restores the kernel's default.
TCP_NOTSENT_LOWAT = getattr(socket, "TCP_NOTSENT_LOWAT", 25)
KERNEL_DEFAULT = 0


Check = Callable[[Endpoint], Awaitable[None]]
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
    check: Check | None = None,
    via: Via = DIRECTLY,
) -> trio.SocketStream | TlsStream:
    """A connection to `endpoint`, if `check` has nothing against it. Raises UnreachableError."""
    until = trio.current_time() + seconds
    place = via.get(endpoint, endpoint)
    way = f" (dialled at {place})" if place != endpoint else ""
    try:
        with trio.fail_after(seconds):
            if check is not None:
                await check(endpoint)
            stream = await _connect(place)
    except trio.TooSlowError:
        raise UnreachableError(endpoint, f"no answer within {round(seconds, 2):g} s{way}", stalled=True) from None
    except OSError as error:
        raise UnreachableError(endpoint, reason(error) + way) from None
    except ValueError:  # the resolver cannot even encode it
        raise UnreachableError(endpoint, "no host has such a name") from None
    if tls is None:
        return stream
    connected = plain_socket(stream)
    try:
        return await tls.seal(connected, endpoint.host, max(0.0, until - trio.current_time()))
    except HandshakeError as error:
        connected.close()
        raise UnreachableError(endpoint, f"no TLS: {error}") from None
    except BaseException:  # the proxy is about to end
        connected.close()
        raise


async def _connect(endpoint: Endpoint) -> trio.SocketStream:
    """A connection. To an address, which needs no name looked up and has no other beside it, at a third of the cost."""
    address, family = (endpoint.host, endpoint.port), _family(endpoint.host)
    if family is None:
        return await trio.open_tcp_stream(*address)
    connecting = socket.socket(family, socket.SOCK_STREAM)
    try:
        connecting.setblocking(False)
        failed = connecting.connect_ex(address)
        if failed == errno.EINPROGRESS:
            await trio.lowlevel.wait_writable(connecting)
            failed = connecting.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if failed:
            raise OSError(failed, os.strerror(failed))
        return trio.SocketStream(trio.socket.from_stdlib_socket(connecting))
    except BaseException:
        connecting.close()
        raise


def _family(host: str) -> socket.AddressFamily | None:
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
        return "no such host"
    if isinstance(cause, OSError) and cause.errno:
        return os.strerror(cause.errno).lower()
    return str(cause)


@overload
def plain_socket(stream: trio.SocketStream) -> socket.socket: ...
@overload
def plain_socket(stream: trio.SocketStream | TlsStream) -> socket.socket | TlsSocket: ...


def plain_socket(stream: trio.SocketStream | TlsStream) -> socket.socket | TlsSocket:
    """The stream's socket for use outside trio."""
    if isinstance(stream, TlsStream):
        return stream.socket
    plain = socket.socket(fileno=stream.socket.detach())
    plain.setblocking(False)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    plain.setsockopt(socket.IPPROTO_TCP, TCP_NOTSENT_LOWAT, KERNEL_DEFAULT)
    return plain
