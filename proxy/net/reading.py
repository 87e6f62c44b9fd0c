"""Reading: what came from one side of a conversation goes to its link, and on to the other side.

Rules:
* A side is read until a read came back short: with edge-triggered events the next one says that there is more. Where
  the other end has said goodbye it is read to its end, for no event will follow. Where it is not there any more, and
  what it sent last cannot be taken, the conversation ends.
* A side is not read while the link wants it paused, or while what came from it cannot be sent on (`side.py`).
* Small pieces are posted, and leave together when every link that was ready has been read. Sent one by one, each would
  wake an idle broker for itself: 50 connections of 100 B cost 27 us a request instead of 20.
* After some rounds the others have their turn: the side waits in `again`. The more others there are, the shorter is a
  turn: with 20 sides that have much to read, turns of 2 ms kept a small request waiting for 100 ms.
"""

from __future__ import annotations

import time

from proxy.net.backlog import BUFFER
from proxy.net.conversation import Conversation
from proxy.net.pipes import WORTH_IT
from proxy.net.side import Side
from proxy.net.splicing import splice

ROUNDS = 6  # full reads of one side before the others have their turn
SHORT = 0.0005  # seconds: a turn that is shorter is one read
SMALL = 8 << 10  # what is sent on together with what others have to send


def read(conversation: Conversation, side: Side) -> None:
    """Read a side that has something, for a few rounds."""
    buffer = conversation.buffer
    side.readable = True
    until = 0.0
    for _ in range(ROUNDS):
        if side.blocked:
            if side.gone:
                _abort(conversation, side)
            return
        if side.splitter.passing > WORTH_IT and conversation.is_plain and not _splice(conversation, side):
            return
        peer, portion, room = side.peer, side.portion, buffer.room
        try:
            count = side.receive(room, portion)
        except BlockingIOError:
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
        commands = side.take(data)
        if commands is None:
            if count <= SMALL:
                buffer.post(peer, data, count)  # what nearly always happens
            else:
                buffer.deliver()
                peer.send(data)
        elif commands:
            conversation.carry_out(commands)
        else:
            conversation.shared.budget.kept(conversation)
        if count < portion and not side.hung:
            side.readable = False
            return
        side.portion = BUFFER
        turn = conversation.shared.turn
        if turn < SHORT:
            break
        now = time.perf_counter()
        if until and now > until:
            break
        until = until or now + turn
    conversation.shared.again[side] = None


def goodbye(conversation: Conversation, side: Side, broken: bool) -> None:
    """The other end will send no more, or (`broken`) is not there any more."""
    if conversation.is_over:
        return  # what waited for it could not be sent
    side.hung = True
    side.gone = side.gone or broken
    if conversation.paused and conversation.is_left:
        _abort(conversation, side)
    else:
        read(conversation, side)


def _abort(conversation: Conversation, side: Side) -> None:
    """What this side sent last cannot be taken now, and nobody is there any more."""
    conversation.abort(None if side.is_client else "the connection to the broker broke")


def _splice(conversation: Conversation, side: Side) -> bool:
    """Let a body pass unread. True: the side may have more to read."""
    conversation.buffer.deliver()
    try:
        return splice(side, conversation.shared.pipes)
    except BlockingIOError:
        side.readable = False
    except EOFError:
        conversation.ended(side)
    except OSError as error:
        conversation.lost(side, error)
    return False
