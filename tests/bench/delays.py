"""Delays: how far are they from what a file of faults says?

    python -m tests.bench.delays [--requests 300]

A client asks a dummy broker through `doorkeeper run`, one request at a time; each of the three is a process. Each line
is about one delay. It gives the time to a response, less the delay, less the median time to a response without a delay.
The requests of all lines take turns, so that other work of the machine affects all of them alike.
"""

from __future__ import annotations

import json
import socket
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import trio

from proxy.protocol.frame import SIZE
from proxy.protocol.header import request_frame
from tests.bench.contenders import Doorkeeper, Upstream
from tests.bench.rig import HOST, Brokers
from tests.plugins.faults.talking import produce
from tests.real.ports import free_block
from tests.real.process import Program

DELAYS = (0.005, 0.02, 0.1)  # seconds
SIDES = ("before_broker", "after_broker")
WITHOUT = "without a delay"
START = 20.0  # seconds for the proxy to be ready
VERSION = 9  # of Produce


class Delaying(Doorkeeper):
    """With one delay for each client; the client id names its delay."""

    def command(self, folder: Path, upstream: Upstream, port: int) -> list[str]:
        command = list(super().command(folder, upstream, port))
        with (folder / "gateway.yaml").open("a") as file:
            file.write("plugins: [faults: {rules: faults.yaml}]\n")
        rules = [
            {"match": {"client_id": name(delay, side)}, "do": {"delay": {"time": f"{1000 * delay:g}ms", "side": side}}}
            for delay in DELAYS
            for side in SIDES
        ]
        (folder / "faults.yaml").write_text(json.dumps({"faults": rules}))
        return command


class Client:
    """One connection of a client with this client id."""

    def __init__(self, client_id: str, port: int) -> None:
        self._frame = request_frame(produce("orders"), VERSION, 1, client_id)
        self._socket = socket.create_connection((HOST, port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.close = self._socket.close

    def ask(self) -> float:
        """Send one request and give the seconds until its response arrived."""
        began = time.perf_counter()
        self._socket.sendall(self._frame)
        size = self._socket.recv(SIZE.size, socket.MSG_WAITALL)
        self._socket.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL)
        return time.perf_counter() - began


def name(delay: float, side: str) -> str:
    """The client id that has this delay."""
    return f"{side}-{1000 * delay:g}ms"


def taken(requests: int) -> Mapping[str, list[float]]:
    """The seconds that each request took, by client id."""
    names = [WITHOUT, *(name(delay, side) for delay in DELAYS for side in SIDES)]
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        brokers = Brokers(Path(folder, "brokers.log"))
        stack.callback(brokers.stop)
        port = free_block(2, HOST)
        command = Delaying().command(Path(folder), dict(enumerate(brokers.addresses)), port)
        doorkeeper = Program("doorkeeper", command, Path(folder, "doorkeeper.log"))
        stack.callback(doorkeeper.kill)
        doorkeeper.expect("ready", within=START)
        clients = {each: Client(each, port) for each in names}
        for client in clients.values():
            stack.callback(client.close)
            client.ask()
        found: dict[str, list[float]] = {each: [] for each in names}
        for _ in range(requests):
            for each, client in clients.items():
                found[each].append(client.ask())
    return found


async def oversleeping(seconds: float, sleeps: int) -> list[float]:
    """The milliseconds by which trio alone oversleeps."""
    wrong = []
    for _ in range(sleeps):
        began = time.perf_counter()
        await trio.sleep(seconds)
        wrong.append(1000 * (time.perf_counter() - began - seconds))
    return wrong


def main(requests: int) -> None:
    """Print a line for each delay."""
    found = taken(requests)
    without = median(found[WITHOUT])
    print(f"{WITHOUT}: median {1000 * without:.2f} ms, p99 {1000 * _p99(found[WITHOUT]):.2f} ms")
    for delay in DELAYS:
        _tell(delay, "trio alone", trio.run(oversleeping, delay, requests))
        for side in SIDES:
            _tell(delay, side, [1000 * (each - delay - without) for each in found[name(delay, side)]])


def _tell(delay: float, what: str, wrong: list[float]) -> None:
    print(f"{1000 * delay:>4g} ms {what:<13}: median error {median(wrong):5.2f} ms, p99 {_p99(wrong):5.2f} ms")


def _p99(values: list[float]) -> float:
    return sorted(values)[int(0.99 * len(values))]


if __name__ == "__main__":
    main(int(sys.argv[sys.argv.index("--requests") + 1]) if "--requests" in sys.argv else 300)
