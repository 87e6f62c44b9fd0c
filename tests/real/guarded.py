"""Doorkeeper with a file of rules, in two workers, in front of a single broker."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.proxy.protocol.oracles.broker import HOST
from tests.real.jars import CHECKOUT
from tests.real.ports import free_block
from tests.real.process import Program

NODE = 1  # the broker's id
START = 60.0
CONFIGURATION = """\
clusters: {{main: {{bootstrap: ["{host}:{broker}"]}}}}
listeners: {{clients: {{cluster: main, bind: "{host}:{port}"}}}}
workers: 2
plugins: [acl: {{rules: acl.yaml}}]
"""


@contextmanager
def doorkeeper(folder: Path, broker: int) -> Iterator[int]:
    """Run Doorkeeper in front of this broker port, and give its own port."""
    port = free_block(2 + NODE, HOST)
    file = folder / "gateway.yaml"
    file.write_text(CONFIGURATION.format(host=HOST, broker=broker, port=port))
    command = [sys.executable, "-m", "proxy", "run", str(file), "--log", "text"]
    program = Program("doorkeeper", command, folder / "doorkeeper.log", env={"PYTHONPATH": str(CHECKOUT)})
    try:
        program.expect("listening", str(port), within=START)
        yield port
    finally:
        program.stop()
