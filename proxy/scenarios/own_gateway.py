"""A gateway of its own, started in front of a user's cluster while a scenario is played.

It listens on loopback only. It runs in its own processes, which end with the `with` block.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from chaos.client import AdminClient, AdminError

LOOPBACK = "127.0.0.1"
PATIENCE = 30.0  # seconds for it to get ready
END = 10.0  # seconds for it to end
ROOM = 100  # ports for brokers after the first one
LOOK = 0.1


class OwnGatewayError(RuntimeError):
    """The gateway could not be started. The text is a line for people."""


class OwnGateway(NamedTuple):
    """The address for clients, and a client of the admin side."""

    bootstrap: str
    admin: AdminClient


@contextmanager
def own_gateway(broker: str) -> Iterator[OwnGateway]:
    """A gateway in front of the cluster of `broker`, `host:port`. Raises OwnGatewayError."""
    with TemporaryDirectory(prefix="doorkeeper-") as folder, socket.create_server((LOOPBACK, 0)) as one:
        admin = f"{LOOPBACK}:{one.getsockname()[1]}"
        clients = f"{LOOPBACK}:{_room()}"
        one.close()
        file, log = Path(folder, "gateway.yaml"), Path(folder, "gateway.log")
        configuration = {
            "clusters": {"main": {"bootstrap": [broker]}},
            "listeners": {"clients": {"cluster": "main", "bind": clients}},
            "admin": {"bind": admin},
            "plugins": [{"faults": {}}],
        }
        file.write_text(json.dumps(configuration))  # JSON is YAML
        with log.open("wb") as said:
            # If this process ends, even by SIGKILL, the pipe closes with it, and the proxy ends.
            command = [sys.executable, "-P", "-m", "chaos.tethered", "proxy", "run", str(file), "--log", "text"]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=said, stderr=said)
        try:
            gateway = OwnGateway(clients, AdminClient(f"http://{admin}"))
            _await(gateway, process, log)
            yield gateway
        finally:
            process.terminate()
            try:
                process.wait(END)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdin is not None:
                process.stdin.close()


def _await(gateway: OwnGateway, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until clients can connect and faults can be added. Raises OwnGatewayError."""
    host, _, port = gateway.bootstrap.rpartition(":")
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        with suppress(AdminError, OSError):
            gateway.admin.faults()
            socket.create_connection((host, int(port)), LOOK).close()
            return
        time.sleep(LOOK)
    lines = log.read_text(errors="replace").splitlines()[-3:]
    raise OwnGatewayError("\n".join(["the proxy in front of the cluster did not get ready; it said last:", *lines]))


def _room() -> int:
    """A port with free ports after it, below the range that the kernel uses for outgoing connections."""
    for first in range(20_000, 30_000, ROOM):
        with suppress(OSError), socket.create_server((LOOPBACK, first)), socket.create_server((LOOPBACK, first + 1)):
            return first
    raise OwnGatewayError("no free ports between 20000 and 30000; end what listens there")
