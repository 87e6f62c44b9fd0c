"""Worker: one of several processes on the same ports, as its supervisor starts it: `python -m proxy.net.worker FD`.

It serves as a single process would; beside that it reports through its channel, and ends when the supervisor is gone.
"""

from __future__ import annotations

import signal
import socket
import sys
from contextlib import suppress
from typing import Any

import trio

from proxy import logs
from proxy.net.channel import BrokerOutbox, Learned, Lines, Settings, read, receive_settings
from proxy.net.gateway import Gateway
from proxy.net.process import StartError, cannot_start, serve
from proxy.net.snapshot import GatewaySnapshot
from proxy.telemetry.report import Report


async def work(settings: Settings, channel: socket.socket) -> int:
    """Serve until told to end. Gives the exit code."""
    lines = Lines(channel)
    outbox = BrokerOutbox(lines)
    async with trio.open_nursery() as nursery:
        try:
            gateway = Gateway(settings.config, tell=outbox.put, mark=settings.mark, number=settings.worker)
        except StartError as error:
            return cannot_start(error)

        def started(report: Report) -> None:
            nursery.start_soon(lines.send, {"ready": report.as_json()})

        nursery.start_soon(gateway.tasks.keep, "telling of brokers", outbox.run)
        nursery.start_soon(_answer, gateway, lines)
        code = await serve(gateway, started)
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
                else:
                    await lines.send({"report": gateway.report().as_json()})
        gateway.stop()


class Changes:
    """Other configurations, as the supervisor sends them.

    It says the next thing when the last was answered, or when that took too long: then what was prepared too late, and
    that nobody says anything about any more, is forgotten.
    """

    def __init__(self, gateway: Gateway, lines: Lines) -> None:
        self._gateway = gateway
        self._lines = lines
        self._prepared: dict[int, GatewaySnapshot] = {}
        self._newest = 0

    async def hear(self, line: dict[str, Any]) -> None:
        """Do what the supervisor says, and answer."""
        match line:
            case {"prepare": number, "config": config}:
                await self._lines.send({"prepared": number, "problems": await self._prepare(number, config)})
            case {"take": number}:
                report = None
                with self._gateway.tasks.contained("putting a configuration in force"), suppress(StartError):
                    await self._gateway.put(self._prepared.pop(number))
                    report = self._gateway.report().as_json()
                await self._lines.send({"taken": number, "report": report})
            case {"forget": number} if number in self._prepared:
                self._gateway.forget(self._prepared.pop(number))

    async def _prepare(self, number: int, config: str) -> list[str]:
        problems = ["a worker could not prepare it; its log says why"]
        self._newest = number
        with self._gateway.tasks.contained("preparing a configuration"):
            try:
                self._prepared[number] = await self._gateway.prepare(read(config))
                for late in [each for each in self._prepared if each < self._newest]:
                    self._gateway.forget(self._prepared.pop(late))
                problems = []
            except StartError as error:
                problems = list(error.reasons)
        return problems


def main() -> int:
    """Gives the exit code."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the supervisor says what changed
    channel = socket.socket(fileno=int(sys.argv[1]))
    settings = receive_settings(channel)
    logs.begin(settings.log, verbose=settings.verbose, worker=settings.worker)
    with channel:
        return trio.run(work, settings, channel)


if __name__ == "__main__":
    sys.exit(main())
