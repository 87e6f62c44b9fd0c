"""`python relay.py PORT=PORT ...`: the least work of a proxy in Python, as `relay.c` is in C.

One epoll, and for each chunk one recv into a buffer that serves all, and one send. It parses nothing, and it ends where
anything goes wrong. What it takes more than the relay in C is the price of Python; what Doorkeeper takes more than it
is the price of what Doorkeeper does.
"""

from __future__ import annotations

import select
import socket
import sys

HOST = "127.0.0.1"
BUFFER = 256 << 10
EVENTS = 256


def main(*pairs: str) -> None:
    """Forward each first port to the second one, until killed."""
    poll = select.epoll()
    doors: dict[int, tuple[socket.socket, int]] = {}
    peers: dict[int, tuple[socket.socket, socket.socket]] = {}
    for forwarded in pairs:
        port, target = map(int, forwarded.split("="))
        door = socket.create_server((HOST, port), backlog=1024)
        doors[door.fileno()] = door, target
        poll.register(door, select.EPOLLIN)
    room = memoryview(bytearray(BUFFER))
    while True:
        for fd, _ in poll.poll(maxevents=EVENTS):
            if fd in doors:
                door, target = doors[fd]
                client, broker = door.accept()[0], socket.create_connection((HOST, target))
                for one, other in ((client, broker), (broker, client)):
                    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    peers[one.fileno()] = one, other
                    poll.register(one, select.EPOLLIN)
                continue
            if fd not in peers:
                continue  # it was closed with its peer
            one, other = peers[fd]
            try:
                count = one.recv_into(room)
                other.sendall(room[:count])
            except ConnectionError:
                count = 0
            if count:
                continue
            for each in (one, other):
                del peers[each.fileno()]
                each.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
