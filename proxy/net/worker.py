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
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import trio

from proxy import logs
from proxy.core.state import NoPluginError, NotTakenError, StateError
from proxy.net.allocator import tune_malloc
from proxy.net.channel import BrokerOutbox, Learned, Lines, NonsenseError, Settings, read, receive_settings
from proxy.net.gateway import Gateway
from proxy.net.keeping import tell_files
from proxy.net.last_resort import LastResort
from proxy.net.process import CUT, StartError, cannot_start, serve
from proxy.net.shared_rows import SharedTable
from proxy.telemetry.report import Report
from proxy.text.scarce import is_scarce, scarcity
from proxy.text.watched import inherited

# Seconds for the end at once, and after the drain: more than plugins have (`plugin_host.py`), and less than the
# supervisor waits (`worker_process.py`).
HURRY = 4.0


class MachineClock(trio.abc.Clock):
    """A clock that all workers share, so that a time noted by one means the same to another."""

    def start_clock(self) -> None:
        """Nothing: the clock always runs."""

    def current_time(self) -> float:
        """Seconds since the machine began."""
        return time.monotonic()

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
    ended, changes = False, Changes(gateway, lines)
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


class PreparedChange(NamedTuple):
    """How to put a prepared change in force, and how to drop it."""

    put: Callable[[], Awaitable[None]]
    forget: Callable[[], None]


class Changes:
    """Carries out changes that the supervisor sends: configurations, and states of plugins.

    The supervisor sends the next change when the last was answered, or after a timeout. A change that was prepared too
    late is never mentioned again. It is dropped when the next one is prepared.
    """

    def __init__(self, gateway: Gateway, lines: Lines) -> None:
        self._gateway = gateway
        self._lines = lines
        self._prepared: dict[int, PreparedChange] = {}
        self._newest = 0

    async def hear(self, line: dict[str, Any]) -> None:
        """Carry out a line of the supervisor, and answer it."""
        match line:
            case {"prepare": number}:
                await self._lines.send({"prepared": number, **await self._prepare(number, line)})
            case {"take": number}:
                report = None
                with self._gateway.tasks.contained("putting a change in force"), suppress(StartError):
                    await self._prepared.pop(number).put()
                    report = self._gateway.report().as_json()
                await self._lines.send({"taken": number, "report": report})
            case {"forget": number} if number in self._prepared:
                self._prepared.pop(number).forget()

    async def _prepare(self, number: int, line: dict[str, Any]) -> dict[str, Any]:
        """Prepare a change. Returns its problems, of which there may be none."""
        problems, findings, scarce = ["a worker could not prepare it; its log says why"], [], None
        self._newest = number
        with self._gateway.tasks.contained("preparing a change"):
            try:
                self._prepared[number] = await self._made(line)
                for late in [each for each in self._prepared if each < self._newest]:
                    self._prepared.pop(late).forget()
                problems = []
            except (StartError, NotTakenError) as error:
                problems = list(error.reasons)
            except NoPluginError as error:
                problems = [str(error)]
            except StateError as error:
                problems, findings = [], [(finding.path, finding.message) for finding in error.findings]
            except OSError as error:
                if not is_scarce(error):
                    raise
                problems, scarce = [], error.errno
        return {"problems": problems, "findings": findings, "scarce": scarce}

    async def _made(self, line: dict[str, Any]) -> PreparedChange:
        gateway = self._gateway
        match line:
            case {"config": config}:
                snapshot = await gateway.prepare(read(config))
                return PreparedChange(partial(gateway.put, snapshot), partial(gateway.forget, snapshot))
            case {"plugin": plugin, "state": state}:
                prepared = await gateway.states.prepare(plugin, state)
                return PreparedChange(partial(gateway.states.put, prepared), lambda: None)
        raise NonsenseError("a line says to prepare nothing that there is")


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
