"""Two ends that speak TLS with each other over a pair of sockets."""

from __future__ import annotations

import socket
import ssl

import trio

from proxy.net.tls.handshake import HandshakeError, shake_hands
from proxy.net.tls.sockets import TlsSocket

OPENED: list[TlsSocket] = []  # closed after each test


def ends(
    server: ssl.SSLContext, client: ssl.SSLContext, host: str = "kafka.example.com"
) -> tuple[TlsSocket, TlsSocket]:
    """The server's end and the client's, before the handshake."""
    pair = socket.socketpair()
    for each in pair:
        each.setblocking(False)
    both = TlsSocket(pair[0], server), TlsSocket(pair[1], client, host)
    OPENED.extend(both)
    return both


async def shaken(one: TlsSocket, two: TlsSocket) -> list[str]:
    """Do the handshake; gives its error at each end where it failed."""
    failed: list[str] = []

    async def shake(end: TlsSocket) -> None:
        try:
            await shake_hands(end, 5)
        except HandshakeError as error:
            failed.append(str(error))
            end.close()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(shake, one)
        nursery.start_soon(shake, two)
    return failed


def read_all(end: TlsSocket, most: int = 1 << 20) -> bytes:
    """Read all data that is available now."""
    room, found = memoryview(bytearray(256 << 10)), b""
    while len(found) < most:
        try:
            count = end.recv_into(room, len(room))
        except BlockingIOError:
            break
        if not count:
            break
        found += room[:count]
    return found
