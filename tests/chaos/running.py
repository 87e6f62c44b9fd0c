"""A real proxy with the plugin `faults`, in front of librdkafka's mock cluster, and the client of its admin API."""

from __future__ import annotations

import json
import resource
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from confluent_kafka import Producer

from chaos.client import AdminClient
from tests.real.ports import free_block, free_port
from tests.real.process import Program

LOOPBACK = "127.0.0.1"
ROOT = Path(__file__).parents[2]
LONG = 60.0  # seconds


class FaultyProxy(Program):
    """One run of this proxy. `bootstrap` is a broker; `plugin` has the options of `faults`."""

    def __init__(
        self,
        folder: Path,
        bootstrap: str,
        workers: int = 1,
        plugin: str = "{}",
        admin: str = "",
        token: str | None = None,
    ) -> None:
        self.bind = f"{LOOPBACK}:{free_block(5, LOOPBACK)}"
        self.url = f"http://{LOOPBACK}:{free_port(LOOPBACK)}"
        self.file = folder / "gateway.yaml"
        self._start = (
            f"clusters: {{main: {{bootstrap: [{bootstrap}]}}}}\n"
            f"listeners: {{clients: {{cluster: main, bind: {self.bind}}}}}\n"
            f"workers: {workers}\nadmin: {{bind: {self.url.removeprefix('http://')}{admin}}}\n"
        )
        self.write(f"plugins: [faults: {plugin}]")
        command = [sys.executable, "-m", "proxy", "run", "--log", "json", str(self.file)]
        super().__init__("proxy", command, folder / "proxy.log", env={"PYTHONPATH": str(ROOT)})
        self.expect('"event": "ready"', within=LONG)
        self.admin = AdminClient(self.url, token)

    def write(self, more: str) -> None:
        """Write its configuration: the usual beginning, and `more`."""
        self.file.write_text(f"{self._start}{more}\n")

    def produce(self, topic: str = "orders") -> str | None:
        """Produce one record with a new client that does not retry. Gives the error, if any."""
        said: list[Any] = []
        producer = Producer({"bootstrap.servers": self.bind, "retries": 0, "log_level": 0})
        producer.produce(topic, b"x", on_delivery=lambda error, message: said.append(error and error.name()))
        assert producer.flush(LONG) == 0
        return said[0]

    def lines(self, event: str) -> list[dict[str, Any]]:
        """The lines of its log about this event."""
        return [json.loads(line) for line in self.output().splitlines() if f'"event": "{event}"' in line]

    def workers(self) -> list[int]:
        """The process ids of its workers, where it has several."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text()
        return [int(pid) for pid in children.split()]

    def is_ready(self) -> bool:
        """Does every worker listen?"""
        try:
            with urllib.request.urlopen(f"{self.url}/health", timeout=LONG) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def memory(self) -> int:
        """The resident bytes of its processes."""
        pids = [self.pid, *self.workers()]
        pages = (int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids)
        return sum(pages) * resource.getpagesize()


def until(holds: Callable[[], bool]) -> None:
    """Wait until the condition holds."""
    end = time.monotonic() + LONG
    while not holds():
        assert time.monotonic() < end, "it never did"
        time.sleep(0.01)
