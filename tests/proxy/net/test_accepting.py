"""Accepting where the machine has too little of something. Everything else is tested with the listener around it."""

from __future__ import annotations

import errno
import os
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
