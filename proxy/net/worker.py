"""Worker: one of several processes on the same ports, as its supervisor starts it: `python -m proxy.net.worker FD`.

It serves as a single process would; beside that it reports through its channel, and ends when the supervisor is gone.
"""

from __future__ import annotations

import socket
import sys

import trio

from proxy import logs
from proxy.net.channel import Learned, Lines, Outbox, Settings, receive_settings
from proxy.net.gateway import Gateway
from proxy.net.process import StartError, cannot_start, serve
from proxy.telemetry.report import Report


async def work(settings: Settings, channel: socket.socket) -> int:
    """Serve until told to end. Gives the exit code."""
    lines = Lines(channel)
    outbox = Outbox(lines)
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
    ended = False
    while not ended:
        with gateway.tasks.contained("hearing of the supervisor"):
            line = await lines.receive()
            if line is None:
                ended = True
            elif "learned" in line:
                gateway.learn(Learned.of(line["learned"]))
            else:
                await lines.send({"report": gateway.report().as_json()})
    gateway.stop()


def main() -> int:
    """Gives the exit code."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    settings = receive_settings(channel)
    logs.begin(settings.log, verbose=settings.verbose, worker=settings.worker)
    with channel:
        return trio.run(work, settings, channel)


if __name__ == "__main__":
    sys.exit(main())
