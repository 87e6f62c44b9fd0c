from __future__ import annotations

import socket

import pytest
import trio

from proxy.core.topology import Endpoint
from proxy.net.channel import Lines, Settings, receive_settings
from tests.proxy.net.scripted import configuration


async def test_settings_arrive_as_they_were_sent() -> None:
    config = configuration(Endpoint("kafka-1", 9092), port=9192, limits={"idle": "5m"}, workers=2)
    sent = Settings(config, 1, "json", True)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        await Lines(ours).send_settings(sent)
        got = receive_settings(theirs)
    assert (got.config, got.worker, got.log, got.verbose) == (config, 1, "json", True)


def test_a_supervisor_that_is_gone_before_it_spoke_is_noticed() -> None:
    ours, theirs = socket.socketpair()
    ours.close()
    with theirs, pytest.raises(EOFError):
        receive_settings(theirs)


async def test_lines_arrive_whole_and_in_order_whatever_the_pieces() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        lines = Lines(theirs)
        await trio.to_thread.run_sync(ours.sendall, b'{"a": 1}\n{"b"')
        assert await lines.receive() == {"a": 1}
        await trio.to_thread.run_sync(ours.sendall, b": 2}\n")
        assert await lines.receive() == {"b": 2}


async def test_two_tasks_may_send_at_once_and_neither_minds_an_end_that_is_gone() -> None:
    ours, theirs = socket.socketpair()
    with ours:
        lines = Lines(ours)
        theirs.close()
        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(lines.send, {"long": "x" * 1_000_000})


async def test_the_end_of_the_other_side_is_none() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        ours.close()
        assert await Lines(theirs).receive() is None
