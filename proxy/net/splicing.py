"""Splicing: passes the body of a large frame that nobody reads from socket to socket, through a pipe in the kernel."""

from __future__ import annotations

from proxy.net.pipes import Pipes
from proxy.net.side import Side

HEAD_ONLY = 4 << 10  # bytes read at a time while large frames pass: enough for a head, since the body takes the pipe


def splice(side: Side, pipes: Pipes) -> bool:
    """Pass the rest of this side's frame through to its peer. Returns whether there may be more to read.

    Raises BlockingIOError if nothing more is there, EOFError if the stream has ended, OSError if the side's socket
    broke.
    """
    splitter, peer = side.splitter, side.peer
    pipe = pipes.take()
    if pipe is None:
        return True
    side.portion = HEAD_ONLY
    try:
        while splitter.passing and not side.blocked:
            count = pipe.fill(side.fd, splitter.passing)
            if not count:
                raise EOFError
            side.received += count
            splitter.passed(count)
            if not peer.send_from(pipe, not splitter.between):
                pipe = None
                return False
    finally:
        if pipe is not None:
            pipe.release()
    return True
