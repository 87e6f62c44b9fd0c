"""The ground of an attack: a real `doorkeeper run`, the canary with its broker, and a scripted broker.

Rules:
* Brokers are at 127.0.0.9, the proxy is at 127.0.0.1: no client may see the first address.
* One ground serves all cases of one setting; a setting that is `alone` has a new ground for each case.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import yaml

from tests.hostile import canary
from tests.hostile.canary import HOST, REAL
from tests.hostile.client import LONG, Client, NotHeldError, connect, patiently
from tests.hostile.stage import NODE, Play, Stage
from tests.hostile.watch import Watch
from tests.real.ports import accepts, free_block, free_port

ROOT = Path(__file__).parents[2]
START = 60.0  # seconds
BLOCK = 8  # ports of one listener
WARM, CALM = 20, 30  # pairs of requests of the canary: to warm up, and to measure it without attacks
LIMITS: dict[str, Any] = {
    "first_frame": "1s",
    "frame_time": "1s",
    "take_time": "1s",
    "memory": "160 MiB",
    "handshake": "1s",
    "dial": "2s",
    "drain": "1s",
    "connections": 400,
    "handshakes": 100,
    "brokers": 50,
}


@dataclass(frozen=True)
class Setting:
    """A configuration: `more` adds to the smallest one, and `way` says how the canary connects and logs in."""

    name: str
    more: Callable[[Ground], dict[str, Any]] = lambda ground: {}
    way: Callable[[Ground], dict[str, Any]] = lambda ground: {}
    workers: int = 1
    alone: bool = False
    waits: bool = False  # some of its clusters never answer, so the proxy never logs `listening`
    startup: str = ""  # Python code that the proxy's processes run when they start
    log: Callable[[Path], int] | None = None  # opens a descriptor for the log, instead of a file


class Ground:
    """A context that runs the proxy, the canary and the brokers."""

    def __init__(self, setting: Setting, *, long: bool = False) -> None:
        self.setting = setting
        self.long = long
        self._folder = tempfile.TemporaryDirectory(prefix="hostile-")
        self.folder = Path(self._folder.name)
        self.ports = {"clients": free_block(BLOCK, HOST)}
        self.admin = free_port(HOST)
        self.stage = Stage()
        self.unused: list[tuple[str, Stage]] = []  # unused clusters: listener, and its one scripted broker
        self.kept: dict[str, Any] = {}  # objects of the setting that its cases need
        self.clients: list[Client] = []
        self._numbers = 0
        self.calm: dict[str, Any] = {}

    def __enter__(self) -> Ground:
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self) -> None:
        told = json.dumps({"told": {NODE: [REAL, self.stage.port]}})
        self._canary = subprocess.Popen(
            [sys.executable, "-m", "tests.hostile.canary", told],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            start_new_session=True,
        )
        self.real_port: int = self._hear()["port"]
        self.file = self.folder / "gateway.yaml"
        self.file.write_text(yaml.safe_dump(self._configuration()))
        self.run()
        self._order(fly={"port": self.port(node=canary.NODE), **self.setting.way(self)})
        self.canary(WARM)
        self.calm = min((self.canary(CALM) for _ in range(2)), key=lambda flown: flown["stay"]["p99"])

    def _configuration(self) -> dict[str, Any]:
        least: dict[str, Any] = {
            "clusters": {"main": {"bootstrap": [f"{REAL}:{self.real_port}"]}},
            "listeners": {"clients": {"cluster": "main", "bind": f"{HOST}:{self.ports['clients']}"}},
            "limits": LIMITS,
            "admin": {"bind": f"{HOST}:{self.admin}"},
            "workers": self.setting.workers,
        }
        return merged(least, self.setting.more(self))

    def run(self) -> None:
        """Start the proxy, and wait until it listens."""
        log = self.folder / "log"
        to = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND) if self.setting.log is None else self.setting.log(log)
        command = [sys.executable, "-m", "proxy", "run", str(self.file), "--log", "json"]
        if self.setting.startup:
            (self.folder / "sitecustomize.py").write_text(self.setting.startup)  # Python imports it at its start
        environment = os.environ | {"PYTHONPATH": str(self.folder)} if self.setting.startup else None
        self.proxy = subprocess.Popen(command, stdout=to, stderr=to, cwd=ROOT, start_new_session=True, env=environment)
        os.close(to)
        self.watch = Watch(self.proxy.pid, log)
        places = [(HOST, self.port(node=None)), (HOST, self.port(node=canary.NODE))]
        for _ in patiently("the proxy listens", START):
            if self.proxy.poll() is not None:
                raise NotHeldError(f"the proxy ended with {self.proxy.returncode}: {self.tail()}")
            says = self.setting.log is None and not self.setting.waits
            if accepts(places) and (not says or b'"listening"' in log.read_bytes()):
                break

    def close(self) -> None:
        """End all processes and brokers, and remove the folder."""
        for name in ("proxy", "_canary"):
            process: subprocess.Popen[bytes] | None = getattr(self, name, None)
            if process is not None:
                end(process, signal.SIGTERM if name == "proxy" else signal.SIGKILL)
                for pipe in (process.stdin, process.stdout):
                    if pipe is not None:
                        pipe.close()
        for stage in (self.stage, *(stage for _, stage in self.unused)):
            stage.die()
        self.leave()
        self._folder.cleanup()

    # What cases use.

    def port(self, listener: str = "clients", node: int | None = NODE) -> int:
        """The port of a broker, or (None) of the bootstrap."""
        return self.ports[listener] + (0 if node is None else 1 + node)

    def listener(self, name: str, cluster: str = "main", **options: Any) -> dict[str, Any]:
        """One more listener, for a configuration."""
        self.ports[name] = free_block(BLOCK, HOST)
        return {name: {"cluster": cluster, "bind": f"{HOST}:{self.ports[name]}", **options}}

    def client(self, listener: str = "clients", node: int | None = NODE, receive: int = 0, source: str = "") -> Client:
        """A connection; it is closed at the end of the case."""
        client = Client(connect(self.port(listener, node), receive, source))
        self.clients.append(client)
        return client

    def stranger(self, listener: str) -> Client:
        """A connection from a new address: it never failed to authenticate, so refusals are not delayed."""
        number = self.number()
        return self.client(listener, source=f"127.1.{number >> 8}.{number & 255}")

    def number(self) -> int:
        """A new number with each call."""
        self._numbers += 1
        return self._numbers

    def cluster(self, play: Play) -> str:
        """The listener of an unused cluster. Its broker is `stage` from now on, and plays this."""
        listener, self.stage = self.unused.pop(0)
        self.stage.play = play
        return listener

    def times(self, short: int, long: int) -> int:
        """A number of rounds or a size: `short` in the short form, `long` in the long form."""
        return long if self.long else short

    def canary(self, pairs: int) -> dict[str, Any]:
        """The canary's results since the last call, once it has this many pairs."""
        return self._order(pairs=pairs)

    def leave(self) -> list[Client]:
        """Close all clients of the case, and give them."""
        clients, self.clients = self.clients, []
        for client in clients:
            client.close()
        return clients

    def met(self, limit: str) -> int:
        """How often this limit was reached, according to the metrics."""
        told = httpx.get(f"http://{HOST}:{self.admin}/metrics", timeout=LONG, trust_env=False).text
        about = (line for line in told.splitlines() if "doorkeeper_limits_total" in line and f'limit="{limit}"' in line)
        return sum(int(float(line.rpartition(" ")[2])) for line in about)

    def lines(self, event: str, start: int = 0) -> list[dict[str, Any]]:
        """The lines of the log about this event."""
        return [line for line in self.watch.lines(start) if event in line["event"]]

    def tail(self) -> str:
        """The end of the log."""
        log = self.watch.log
        return log.read_bytes()[-600:].decode(errors="replace") if log.is_file() else "no log"

    @property
    def lives(self) -> bool:
        return self.proxy.poll() is None

    def _order(self, **order: Any) -> dict[str, Any]:
        assert self._canary.stdin is not None
        self._canary.stdin.write(json.dumps(order).encode() + b"\n")
        self._canary.stdin.flush()
        return self._hear()

    def _hear(self) -> dict[str, Any]:
        assert self._canary.stdout is not None
        heard: dict[str, Any] = json.loads(self._canary.stdout.readline() or b"{}")
        return heard


def end(process: subprocess.Popen[bytes], by: signal.Signals) -> int:
    """Send a signal, and kill the process where it does not end within 10 s; gives its exit code."""
    with suppress(ProcessLookupError):
        process.send_signal(by)
    try:
        return process.wait(10)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        return process.wait()


def merged(one: dict[str, Any], two: dict[str, Any]) -> dict[str, Any]:
    """Two configurations merged; where both have a value, the second counts."""
    both = dict(one)
    for key, value in two.items():
        both[key] = merged(both[key], value) if isinstance(value, dict) and isinstance(both.get(key), dict) else value
    return both
