"""Worker: one of several processes on the same ports. Its supervisor starts it: `python -m proxy.net.worker FD FD`.

The descriptors are its channel, and the file of numbers that all workers count together (`shared_rows.py`).

It serves as a single process would. It also reports through its channel, and it ends when the supervisor is gone.
If descriptors or memory run out before it serves, it says so in one line. The supervisor then tries again.
"""

from __future__ import annotations

import json
import signal
import socket
import sys
import time
from functools import partial
from typing import Any

import trio

from proxy import logs
from proxy.net.allocator import tune_malloc
from proxy.net.channel import BrokerOutbox, Learned, Lines, Settings, receive_settings
from proxy.net.gateway import Gateway
from proxy.net.keeping import tell_files
from proxy.net.last_resort import LastResort
from proxy.net.process import CUT, StartError, cannot_start, serve
from proxy.net.shared_rows import SharedTable
from proxy.net.worker_changes import WorkerChanges
from proxy.telemetry.report import Report
from proxy.text.scarce import scarcity
from proxy.text.watched import inherited

# Seconds for the end at once, and after the drain: more than plugins have (`plugin_host.py`), and less than the
# supervisor waits (`worker_process.py`).
HURRY = 4.0


class MachineClock(trio.abc.Clock):
    """A clock that all workers share, so that a time noted by one means the same to another."""

    def start_clock(self) -> None:
        """Nothing: the clock always runs."""

    current_time = staticmethod(time.monotonic)  # seconds since the machine began

    def deadline_to_sleep_time(self, deadline: float) -> float:
        """Seconds until a deadline."""
        return deadline - time.monotonic()


async def work(
    settings: Settings, channel: socket.socket, last_resort: LastResort, table: SharedTable | None = None
) -> int:
    """Serve until told to end. Returns the exit code."""
    lines = Lines(channel)
    outbox = BrokerOutbox(lines)
    try:
        with inherited(settings.files):
            gateway = Gateway(
                settings.config,
                tell=outbox.put,
                mark=settings.mark,
                number=settings.worker,
                states=settings.states,
                table=table,
                taken=settings.taken,
            )
    except StartError as error:
        return cannot_start(error)
    async with trio.open_nursery() as nursery:

        def started(report: Report) -> None:
            nursery.start_soon(lines.send, {"ready": report.as_json()})

        nursery.start_soon(gateway.tasks.keep, "telling of brokers", outbox.run)
        keep_files = partial(tell_files, lambda: gateway.snapshot.watched, lines)
        nursery.start_soon(gateway.tasks.keep, "telling what is in force", keep_files)
        nursery.start_soon(_answer, gateway, lines)
        code = await serve(gateway, started, partial(last_resort.begin, HURRY))
        last_resort.begin(HURRY)
        nursery.cancel_scope.cancel()
    return code


async def _answer(gateway: Gateway, lines: Lines) -> None:
    ended, changes = False, WorkerChanges(gateway, lines)
    async with trio.open_nursery() as nursery:
        while not ended:
            with gateway.tasks.contained("hearing of the supervisor"):
                line = await lines.receive()
                if line is None:
                    ended = True
                elif "learned" in line:
                    gateway.learn(Learned.of(line["learned"]))
                elif line.keys() & {"prepare", "take", "forget"}:
                    nursery.start_soon(changes.hear, line)
                elif "free" in line:
                    gateway.free(line["free"])
                elif "query" in line:
                    nursery.start_soon(_query, gateway, lines, line)
                else:
                    await lines.send({"report": gateway.report().as_json()})
        gateway.stop()


async def _query(gateway: Gateway, lines: Lines, line: dict[str, Any]) -> None:
    """Answer a question of the supervisor, to plugins or about connections."""
    answers = None
    with gateway.tasks.contained("answering the supervisor"):
        if "connections" in line:
            found = await gateway.connections(line["connections"])
        else:
            of_workers = await gateway.states.query(line["plugin"], line["question"], line["said"])
            found = [it for each in of_workers.values() for it in each]
        answers = await trio.to_thread.run_sync(json.dumps, found)
    await lines.send({"answered": line["query"], "answers": answers})


def main() -> int:
    """Run the worker. Returns the exit code."""
    tune_malloc()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the supervisor tells us what changed
    channel = socket.socket(fileno=int(sys.argv[1]))
    settings = receive_settings(channel)
    logs.begin(settings.log, verbose=settings.verbose, worker=settings.worker)
    try:
        with channel, LastResort(CUT) as last_resort:
            table = SharedTable(int(sys.argv[2]), settings.worker)
            return trio.run(work, settings, channel, last_resort, table, clock=MachineClock())
    except (OSError, ExceptionGroup) as error:
        if (why := scarcity(error)) is None:
            raise
        cannot_start(StartError(why))
        return CUT  # not CANNOT_START, which would end the proxy


if __name__ == "__main__":
    sys.exit(main())
