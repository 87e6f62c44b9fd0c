"""A proxy that is killed while a client writes: the client's acknowledgements, the journal, and when it grew.

The client sends one record a request, and notes when each was acknowledged. The files of the journal tell when it
grew. Between two writes of the journal the client sends no more requests than fit into one frame, so that a frame has
all requests that were answered before it began, however slow the disk is.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from confluent_kafka import KafkaError, Message, Producer

from plugins.audit.contents import segment_lines
from plugins.audit.segments import segments
from tests.real.ports import free_block
from tests.real.process import Program

HOST = "127.0.0.1"
SECONDS = 60.0
AT_ONCE = 200  # requests between two writes of the journal, at most
FILE = """\
clusters:
  main: {{bootstrap: ["{bootstrap}"]}}
listeners:
  clients: {{cluster: main, bind: "{host}:{port}"}}
workers: 1
plugins:
  - audit: {{journal: journal}}
"""


class Acknowledged(NamedTuple):
    """A record, and the latest time of its acknowledgement, in seconds since 1970, as all times here."""

    offset: int
    at: float


class Killed(NamedTuple):
    """The result. `written`: offsets in the journal; `grown`: times of its writes; `at`: the time of the kill."""

    acknowledged: Sequence[Acknowledged]
    written: Sequence[int]
    grown: Sequence[float]
    at: float

    @property
    def lost(self) -> list[Acknowledged]:
        """The acknowledged records that the journal lacks."""
        written = set(self.written)
        return [one for one in self.acknowledged if one.offset not in written]


def kill(folder: Path, bootstrap: str, flushes: int, later: float = 0.0) -> Killed:
    """Run a proxy, and kill it `later` seconds after the given number of writes of its journal."""
    port = free_block(3, HOST)
    (file := folder / "gateway.yaml").write_text(FILE.format(bootstrap=bootstrap, host=HOST, port=port))
    program = Program("doorkeeper", [sys.executable, "-m", "proxy", "run", str(file)], folder / "log")
    try:
        program.expect('"ready"', within=SECONDS)
        acknowledged, grown = _written(folder / "journal", port, flushes, later)
        at = time.time()
    finally:
        program.kill()
    lines = [json.loads(line) for path in segments(folder / "journal") for line in segment_lines(path)]
    produced = (one for line in lines if line.get("api") == "Produce" for one in line["resources"])
    return Killed(acknowledged, [one["first_offset"] for one in produced], grown, at)


def _written(journal: Path, port: int, flushes: int, later: float) -> tuple[list[Acknowledged], list[float]]:
    acknowledged: list[Acknowledged] = []
    grown: list[float] = []
    asked = size = 0

    def delivered(error: KafkaError | None, message: Message) -> None:
        if error is None:
            acknowledged.append(Acknowledged(message.offset() or 0, time.time()))

    settings = {"bootstrap.servers": f"{HOST}:{port}", "linger.ms": 0, "batch.num.messages": 1, "log_level": 0}
    producer = Producer({**settings, "topic.metadata.refresh.interval.ms": -1})
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        if asked < AT_ONCE:
            producer.produce("orders", b"value", partition=0, on_delivery=delivered)
            asked += 1
        producer.poll(0.001)
        files = [path.stat() for path in segments(journal)]
        if (now := sum(file.st_size for file in files)) > size and acknowledged:
            size, asked = now, 0
            grown.append(max(file.st_mtime for file in files))
            if len(grown) == flushes:
                until = time.monotonic() + later
    assert len(grown) >= flushes
    return acknowledged, grown
