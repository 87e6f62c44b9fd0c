"""A connection of the admin side leaves nothing for the garbage collector."""

from __future__ import annotations

import gc
import socket
import struct

import pytest
import trio
import trio.testing
from hypercorn.protocol.http_stream import HTTPStream
from hypercorn.trio.tcp_server import TCPServer

from proxy.admin.connection_limit import MOST, LimitedConnection
from tests.proxy.admin.test_connection_limit import ASKING, Slow, served

SAID = {"nothing": b"", "half a request": ASKING[:9], "a request": ASKING, "many requests": ASKING * 50}
LARGE = 8 << 20  # bytes, which no socket takes at once
RESET = struct.pack("ii", 1, 0)  # for SO_LINGER


def living() -> list[str]:
    return [type(it).__name__ for it in gc.get_objects() if isinstance(it, TCPServer | LimitedConnection | HTTPStream)]


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize("resets", [False, True], ids=["closes", "resets"])
async def test_when_a_client_leaves_all_of_its_connection_is_freed(said: str, resets: bool) -> None:
    answers = Slow(LARGE)
    answers.may_answer.set()
    async with served(answers) as it:
        streams = await it.hold(5, SAID[said])
        assert len(living()) >= 10
        for stream in streams:
            if resets:
                stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            await stream.aclose()
        await trio.testing.wait_all_tasks_blocked(0.05)
        assert living() == []


@pytest.mark.usefixtures("no_collector")
async def test_a_connection_that_is_closed_for_another_one_is_freed_too() -> None:
    answers = Slow(LARGE)
    answers.may_answer.set()
    async with served(answers) as it:
        await it.hold(MOST + 20, ASKING * 50)
        assert living().count("LimitedConnection") == MOST
