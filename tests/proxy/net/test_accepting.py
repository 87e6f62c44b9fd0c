"""Accepting where the machine has too little of something. Everything else is tested with the listener around it."""

from __future__ import annotations

import errno
import os
import select
import socket
from typing import Any, NoReturn

import pytest
import trio
from structlog.testing import capture_logs

from proxy.net.accepting import Acceptor
from proxy.net.complaints import Complaints
from proxy.net.tasks import Tasks
from proxy.telemetry.counters import NetworkCounters
from tests.proxy.net.scripted import LOOPBACK, PATIENCE


class Failing(socket.socket):
    """A listening socket whose machine has nothing left for a connection."""

    number: int

    def accept(self) -> NoReturn:
        raise OSError(self.number, os.strerror(self.number))


@pytest.mark.parametrize(
    ("number", "way_out"),
    [
        (errno.EMFILE, "raise the limit of open files (ulimit -n)"),
        (errno.ENFILE, "raise this machine's limit of open files (sysctl fs.file-max)"),
        (errno.ENOMEM, "free memory on this machine"),
    ],
)
async def test_the_way_out_is_of_what_there_is_too_little(nursery: trio.Nursery, number: int, way_out: str) -> None:
    tasks = Tasks(NetworkCounters(), Complaints())
    acceptor = Acceptor("clients", tasks)
    await nursery.start(acceptor.serve)
    with capture_logs() as logs, Failing() as listening, socket.socket() as client:
        listening.number = number
        listening.bind((LOOPBACK, 0))
        listening.listen()
        client.connect(listening.getsockname())
        acceptor.begin(listening, None)
        with trio.fail_after(PATIENCE):
            while not tasks.counters.failed_accepts:
                await trio.lowlevel.checkpoint()
        acceptor.stop()
    lines: list[Any] = [(line["event"], line["why"], line["way_out"]) for line in logs]
    assert lines == [("cannot accept", os.strerror(number), way_out)]


async def test_a_port_that_is_closed_accepts_no_more_and_another_one_may_have_its_descriptor(
    nursery: trio.Nursery,
) -> None:
    came: list[int | None] = []
    acceptor = Acceptor("clients", Tasks(NetworkCounters(), Complaints()))

    def accepted(client: socket.socket, peer: tuple[str, int], node_id: int | None) -> None:
        came.append(node_id)
        client.close()

    acceptor.accepted = accepted
    await nursery.start(acceptor.serve)
    first = socket.create_server((LOOPBACK, 0))
    first.setblocking(False)
    acceptor.begin(first, 1)
    with socket.create_connection(first.getsockname()), trio.fail_after(PATIENCE):
        while came != [1]:
            await trio.lowlevel.checkpoint()
    with socket.create_server((LOOPBACK, 0)) as made:
        made.setblocking(False)
        number = first.fileno()
        acceptor.end(first)
        first.close()
        second = socket.socket(fileno=os.dup2(made.fileno(), number))
    with second:
        acceptor.begin(second, 2)
        with socket.create_connection(second.getsockname()), trio.fail_after(PATIENCE):
            while came != [1, 2]:
                await trio.lowlevel.checkpoint()
    acceptor.stop()


async def test_without_a_descriptor_for_its_epoll_it_begins_a_moment_later(
    nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, tries = select.epoll, iter((errno.EMFILE,))

    def scarce() -> select.epoll:
        for number in tries:
            raise OSError(number, os.strerror(number))
        return real()

    monkeypatch.setattr(select, "epoll", scarce)
    came = trio.Event()
    acceptor = Acceptor("clients", Tasks(NetworkCounters(), Complaints()))
    acceptor.accepted = lambda client, peer, node_id: (client.close(), came.set())  # type: ignore[func-returns-value]
    with capture_logs() as logs, socket.create_server((LOOPBACK, 0)) as listening:
        listening.setblocking(False)
        await nursery.start(acceptor.serve)
        acceptor.begin(listening, None)
        with socket.create_connection(listening.getsockname()), trio.fail_after(PATIENCE):
            await came.wait()
        acceptor.stop()
    assert [line["event"] for line in logs] == ["cannot accept"]
