"""Pipes: bytes pass from socket to socket, and only empty pipes are reused."""

import socket

import pytest

from proxy.net.pipes import SPARE, Pipe, Pipes


def test_bytes_pass_through_a_pipe() -> None:
    one, source = socket.socketpair()
    target, other = socket.socketpair()
    pipe = Pipe([])
    with one, source, target, other:
        for each in (source, target):
            each.setblocking(False)
        one.sendall(b"x" * 5000)
        assert pipe.fill(source.fileno(), 4000) == 4000
        assert pipe.drain(target.fileno(), True)
        assert pipe.fill(source.fileno(), 4000) == 1000
        assert pipe.drain(target.fileno(), False)
        assert other.recv(10_000, socket.MSG_WAITALL | socket.MSG_DONTWAIT) == b"x" * 5000
        with pytest.raises(BlockingIOError):
            pipe.fill(source.fileno(), 1)
        one.close()
        assert pipe.fill(source.fileno(), 1) == 0
    pipe.close()


def test_a_pipe_keeps_what_a_socket_does_not_take() -> None:
    one, source = socket.socketpair()
    target, other = socket.socketpair()
    pipe = Pipe([])
    with one, source, target, other:
        for each in (one, source, target):
            each.setblocking(False)
        taken, full = 0, False
        while not full:
            one.send(b"x" * 20_000)
            taken += pipe.fill(source.fileno(), 20_000)
            full = not pipe.drain(target.fileno(), False)
        assert pipe.held
        received = 0
        while received < taken:
            received += len(other.recv(100_000))
            pipe.drain(target.fileno(), False)
        assert pipe.held == 0
    pipe.close()


def test_empty_pipes_are_kept_for_later_and_others_closed() -> None:
    pipes = Pipes()
    taken = [pipes.take() for _ in range(SPARE + 1)]
    kept = [pipe for pipe in taken if pipe is not None]
    kept[0].held = 1
    for pipe in kept:
        pipe.release()
    assert pipes.take() is kept[-1]
    kept[-1].close()
    pipes.close()
