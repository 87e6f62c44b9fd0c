"""Reading: bytes from one side of a conversation go to its link, and on to the other side.

Rules:
* A side is read until a read comes back short. With edge-triggered events, the next event says that there is more. TLS
  opens a bounded number of records at a time. So it may have more after a short read, and says so (`rest`).
* If the peer has closed its end, the side is read to its end, since no event will follow. If the peer is gone and its
  last bytes cannot be taken, the conversation ends.
* A side is not read while the link wants it paused, or while its bytes cannot be sent on (`side.py`).
* Small pieces are posted, and are sent together when all ready links have been read. If they were sent one by one, each
  would wake an idle broker: 50 connections of 100 B cost 27 us a request instead of 20.
* After some rounds other sides have their turn, and this side waits in `again`. The more sides there are, the shorter
  is a turn: with 20 sides that have much to read, turns of 2 ms kept a small request waiting for 100 ms.
* A side that has much is read in larger portions: after each, little of Python is left in the processor's caches, so
  one read of 512 KiB costs less than two of 256 KiB. One of 1 MiB costs more than two of 512 KiB: what was read is no
  longer in those caches when it is sent. Portions stay small where more than 8 sides are ready, and where the peer was
  stalled before, since what it does not take has to be kept. Where more than 64 are ready they are very small: 300
  clients that sent 999 small requests each at the same moment kept others waiting for 200 ms.
"""

from __future__ import annotations

import time

from proxy.net.backlog import BUFFER
from proxy.net.conversation import Conversation
from proxy.net.read_buffer import SMALL
from proxy.net.side import PORTION, Side

ROUND = 0.002  # seconds in which all sides with much to read have a turn
ROUNDS = 6  # full reads of one side before other sides have their turn
SHORT = 0.0005  # seconds: a shorter turn is a single read
FEW = 0.00025  # seconds: turns are shorter where more than 8 sides are ready
MANY = 0.00003  # seconds: they are shorter where more than 64 are
LEAST = 4 << 10  # bytes to read at a time where so many are ready: 100 small requests, which take 0.1 ms


def read(conversation: Conversation, side: Side) -> None:
    """Read a side that has something, for a few rounds."""
    link, buffer, tls, turn = conversation.link, conversation.buffer, side.tls, conversation.shared.turn
    side.readable = True
    until = 0.0
    for _ in range(ROUNDS):
        if side.blocked:
            if side.gone:
                _abort(conversation, side)
            return
        peer, portion, room = side.peer, side.portion if turn >= MANY else LEAST, buffer.room
        try:
            count = side.sock.recv_into(room, portion)
        except BlockingIOError:
            if tls is not None and tls.rest:
                break
            side.readable = False
            return
        except OSError as error:
            conversation.lost(side, error)
            return
        if not count:
            conversation.ended(side)
            return
        side.received += count
        data = room[:count]
        commands = link.receive_client(data) if side.is_client else link.receive_broker(data)
        if commands is None:
            if count <= SMALL:
                buffer.post(peer, data)  # the usual case
            else:
                buffer.deliver()
                peer.send(data)
        elif commands:
            conversation.carry_out(commands)
        else:
            conversation.shared.budget.count_now(conversation)
        if count < portion and not side.hung and (tls is None or not tls.rest):
            side.readable = False
            return
        side.portion = BUFFER if turn >= FEW and not peer.stalls else PORTION
        if turn < SHORT:
            break
        now = time.perf_counter()
        if until and now > until:
            break
        until = until or now + turn
    conversation.shared.again[side] = None


def goodbye(conversation: Conversation, side: Side, broken: bool) -> None:
    """The peer of this side will send no more, or (`broken`) its connection broke."""
    if conversation.is_over:
        return  # it ended because its pending bytes could not be sent
    side.hung = True
    side.gone = side.gone or broken
    if conversation.paused and conversation.is_left:
        _abort(conversation, side)
    else:
        read(conversation, side)


def _abort(conversation: Conversation, side: Side) -> None:
    """End the conversation: this side's last bytes cannot be taken now, and its peer is gone."""
    conversation.abort(None if side.is_client else "the connection to the broker broke")
