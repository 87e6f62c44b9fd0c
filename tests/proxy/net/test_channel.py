from __future__ import annotations

import socket

import pytest
import trio
import trio.testing

from proxy.core.topology import Endpoint
from proxy.net import channel as module
from proxy.net.channel import BrokerOutbox, Learned, Lines, NonsenseError, Settings, receive_settings
from tests.proxy.net.scripted import configuration


async def test_settings_arrive_as_they_were_sent() -> None:
    config = configuration(Endpoint("kafka-1", 9092), port=9192, limits={"idle": "5m"}, workers=2)
    sent = Settings(config, 1, "json", True)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        await Lines(ours).send_settings(sent)
        got = receive_settings(theirs)
    assert (got.config, got.worker, got.log, got.verbose) == (config, 1, "json", True)


async def test_what_follows_settings_at_once_is_the_first_line() -> None:
    config = configuration(Endpoint("kafka-1", 9092), port=9192)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        lines = Lines(ours)
        await lines.send_settings(Settings(config, 1, "json", True))
        await lines.send({"prepare": 1})
        assert receive_settings(theirs).config == config
        with trio.fail_after(5):
            assert await Lines(theirs).receive() == {"prepare": 1}


@pytest.mark.parametrize("begun", [b"", b"\x00", b"\x00\x00\x00\x09", b"\x00\x00\x00\x09half"])
def test_a_supervisor_that_is_gone_before_it_said_all_settings_is_noticed(begun: bytes) -> None:
    ours, theirs = socket.socketpair()
    ours.sendall(begun)
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


async def test_the_rest_of_a_line_whose_sender_was_cancelled_comes_before_the_next_line() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        lines, others, long = Lines(ours), Lines(theirs), {"long": "x" * 10_000_000}
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lines.send, long)
            await trio.testing.wait_all_tasks_blocked()  # the socket has room for a part of it
            nursery.cancel_scope.cancel()
        with trio.CancelScope() as scope:  # one that is cancelled while it waits for that leaves nothing
            scope.cancel()
            await lines.send({"never": 1})
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lines.send, {"next": 1})
            with trio.fail_after(5):
                assert await others.receive() == long
                assert await others.receive() == {"next": 1}


async def test_the_end_of_the_other_side_is_none() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        ours.close()
        assert await Lines(theirs).receive() is None


@pytest.mark.parametrize("line", [b"nonsense", b"[]", b"7", b"\xff\xfe", b"[" * 100_000])
async def test_nonsense_is_said_and_the_next_line_is_read(line: bytes) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        lines = Lines(theirs)
        await trio.to_thread.run_sync(ours.sendall, line + b'\n{"a": 1}\n')
        with pytest.raises(NonsenseError):
            await lines.receive()
        assert await lines.receive() == {"a": 1}


async def test_an_endless_line_is_thrown_away(nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST", 1 << 16)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        lines = Lines(theirs)
        nursery.start_soon(trio.to_thread.run_sync, ours.sendall, b"x" * (1 << 20) + b'\n{"a": 1}\n')
        with pytest.raises(NonsenseError):
            await lines.receive()
        assert len(lines._rest) < 1 << 18
        assert await lines.receive() == {"a": 1}


@pytest.mark.parametrize(
    "said",
    [None, 7, [], ["main", 7, "kafka"], ["main", 7.5, "kafka", 1], ["main", 7, "a..b", 1], ["main", -1, "kafka", 1]],
    ids=str,
)
def test_a_broker_that_cannot_be_is_nonsense(said: object) -> None:
    with pytest.raises(NonsenseError):
        Learned.of(said)
    assert Learned.of(["main", 7, "kafka", 9092]) == Learned("main", 7, "kafka", 9092)


async def test_of_each_broker_the_last_word_waits_for_an_end_that_does_not_read(nursery: trio.Nursery) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        outbox = BrokerOutbox(Lines(ours))
        for port in range(1, 60_000):
            outbox.put(Learned("main", port % 3, "kafka", port))
        assert len(outbox._waiting) == 3
        nursery.start_soon(outbox.run)
        lines = Lines(theirs)
        told = [await lines.receive() for _ in range(3)]
        assert {line["learned"][3] for line in told if line} == {59_997, 59_998, 59_999}
        nursery.cancel_scope.cancel()
