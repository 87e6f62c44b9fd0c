"""Doorkeeper as its users run it: the real command, in front of real brokers.

Clients reach it through the relay. Doorkeeper listens on one loopback address and advertises another, where the relay
listens on the same ports.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from tests.real.cluster import Cluster
from tests.real.jars import CHECKOUT
from tests.real.ports import free_block
from tests.real.process import Program
from tests.real.relay import Relay, forbidden
from tests.real.way import Way

ADVERTISED = "127.0.0.1"
BOUND = "127.0.0.2"
START = 60.0

CONFIGURATION = """\
clusters:
  main: {{bootstrap: [{bootstrap}], via: {via}}}
listeners:
  clients:
    cluster: main
    bind: {bound}:{port}
    advertise: {advertised}
{more}"""


class Doorkeeper:
    """One run of `doorkeeper run`, with the recording relay in front of it."""

    def __init__(self, folder: Path, cluster: Cluster, more: str = "", via: Mapping[str, str] | None = None) -> None:
        """`more` is added to its configuration; `via` maps brokers' own addresses to those that it dials."""
        self.folder = folder
        self.cluster = cluster
        ids = cluster.brokers
        self.port = free_block(2 + max(ids), ADVERTISED, BOUND)
        self.ports = [self.port, *(self.port + 1 + node_id for node_id in ids)]
        self.relay = Relay(
            ADVERTISED, BOUND, {port: port for port in self.ports}, forbidden(cluster.endpoints, ADVERTISED)
        )
        self.file = folder / "gateway.yaml"
        self.file.write_text(
            CONFIGURATION.format(
                bootstrap=", ".join(f'"{broker.address}"' for broker in cluster.brokers.values()),
                bound=BOUND,
                port=self.port,
                advertised=ADVERTISED,
                via=json.dumps(dict(via or {})),
                more=more,
            )
        )

    @property
    def way(self) -> Way:
        """The way from clients to the brokers through it."""
        nodes = {f"{ADVERTISED}:{self.port + 1 + node_id}": node_id for node_id in self.cluster.brokers}
        return Way("proxy", f"{ADVERTISED}:{self.port}", nodes)

    def __enter__(self) -> Doorkeeper:
        with ExitStack() as stack:
            command = [sys.executable, "-m", "proxy", "run", str(self.file), "--log", "text"]
            self.program = Program(
                "doorkeeper", command, self.folder / "doorkeeper.log", env={"PYTHONPATH": str(CHECKOUT)}
            )
            stack.callback(self.program.stop)
            self.program.expect("listening", str(self.port), within=START)
            stack.enter_context(self.relay)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.close()
