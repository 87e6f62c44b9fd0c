"""A gateway of its own, started in front of a user's cluster while a scenario is played.

It listens on loopback only. It runs in its own processes, which end with the `with` block. It is ready when its log
says so: another program may answer on its ports, and then it is started on others.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from chaos.client import AdminClient
from chaos.ports import HOST, RANGE, free_blocks
from proxy.config.values import HostPort

PATIENCE = 30.0  # seconds for it to get ready
END = 10.0  # seconds for it to end
LOOK = 0.1
READY = "] ready "  # the log line that says: all listeners are open, and the brokers are known
TAKEN = "has the port"


class OwnGatewayError(RuntimeError):
    """The gateway could not be started. The text is for people: a line, and perhaps the last lines of its log."""


class OwnGateway(NamedTuple):
    """The address for clients, and a client of the admin side."""

    bootstrap: str
    admin: AdminClient


@contextmanager
def own_gateway(brokers: Sequence[HostPort]) -> Iterator[OwnGateway]:
    """A gateway in front of the cluster of these brokers. Raises OwnGatewayError."""
    with TemporaryDirectory(prefix="doorkeeper-") as folder:
        for first in free_blocks():
            admin, clients = f"{HOST}:{first}", f"{HOST}:{first + 1}"
            with _running(Path(folder), brokers, admin, clients) as (process, log):
                if _is_ready(process, log):
                    yield OwnGateway(clients, AdminClient(f"http://{admin}"))
                    return
    raise OwnGatewayError(f"no free ports on {HOST} from {RANGE.start} to {RANGE.stop}; end what uses them")


@contextmanager
def _running(
    folder: Path, brokers: Sequence[HostPort], admin: str, clients: str
) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    file, log = folder / "gateway.yaml", folder / "gateway.log"
    configuration = {
        "clusters": {"main": {"bootstrap": list(map(str, brokers))}},
        "listeners": {"clients": {"cluster": "main", "bind": clients}},
        "admin": {"bind": admin},
        "plugins": [{"faults": {}}],
    }
    file.write_text(json.dumps(configuration))  # JSON is YAML
    with log.open("wb") as said:
        # If this process ends, even by SIGKILL, the pipe closes with it, and the proxy ends.
        command = [sys.executable, "-P", "-m", "chaos.tethered", "proxy", "run", str(file), "--log", "text"]
        # Ctrl-C goes to this process alone: the gateway must still be there when the faults are removed.
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=said, stderr=said, start_new_session=True)
    try:
        yield process, log
    finally:
        process.terminate()
        try:
            process.wait(END)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdin is not None:
            process.stdin.close()


def _is_ready(process: subprocess.Popen[bytes], log: Path) -> bool:
    """Wait until it is ready; False if another program has its ports. Raises OwnGatewayError."""
    until = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < until:
        if READY in log.read_text(errors="replace"):
            return True
        time.sleep(LOOK)
    said = log.read_text(errors="replace")
    if process.poll() is not None and TAKEN in said:
        return False
    why = (
        f"the cluster was not reached within {PATIENCE:g} s; see that a broker is there, and correct the address if not"
        if process.poll() is None
        else "the proxy in front of the cluster did not start"
    )
    raise OwnGatewayError("\n".join([f"{why}; the proxy said last:", *said.splitlines()[-3:]]))
