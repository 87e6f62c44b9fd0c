"""What the audit journal costs: CPU time of a request, and bytes on disk.

    python -m tests.bench.audit

Produce requests of one partition are played through a link, with and without the plugin; then what it put is written.
The relay's share is what clients wait for. The writer's share is done in another thread, of the same interpreter.
"""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path

from plugins.audit import Audit
from plugins.audit.journal import Journal
from plugins.audit.queue import SharedFields
from proxy.core.commands import Command, Wake
from proxy.core.filters import Filters
from proxy.core.link import Link
from proxy.core.plugin import Plugin
from proxy.plugin import ProduceRequest, ProduceResponse, Record, write_batch
from proxy.testing import FakeWorker, build, connection, request_frame, response_frame

REQUESTS = 20_000  # fewer than find room in the queue, each with its topic
VERSION = 9
REPEATS = 5


def frames() -> list[tuple[memoryview, memoryview]]:
    """Requests of a few small records each, and their answers; no two are alike."""
    dice, made = random.Random(1), []
    for number in range(REQUESTS):
        topic, partition = f"orders-{dice.randrange(50)}", dice.randrange(12)
        records = write_batch([Record(None, b"x" * 30)] * dice.randint(1, 5))
        asked = ProduceRequest.Topic.Partition(index=partition, records=records)
        topics = [ProduceRequest.Topic(name=topic, partition_data=[asked])]
        request = ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=topics)
        done = ProduceResponse.Topic.Partition(index=partition, error_code=0, base_offset=dice.randrange(10**9))
        answer = ProduceResponse(responses=[ProduceResponse.Topic(name=topic, partition_responses=[done])])
        pair = request_frame(request, VERSION, number, "orders-app"), response_frame(answer, VERSION, number)
        made.append((memoryview(pair[0]), memoryview(pair[1])))
    return made


def relayed(exchanges: list[tuple[memoryview, memoryview]], *plugins: Plugin) -> float:
    """Microseconds for a request and its answer."""
    link = Link(connection(), Filters(plugins))
    link.begin()
    link.connection.principal, link.connection.mechanism = "User:alice", "SCRAM-SHA-512"
    begun = time.thread_time()
    for asked, answered in exchanges:
        go_on(link, link.receive_client(asked))
        go_on(link, link.receive_broker(answered))
    return (time.thread_time() - begun) / REQUESTS * 1e6


def go_on(link: Link, commands: list[Command] | None) -> None:
    """The other connections had their turn."""
    for token in [command.token for command in commands or () if isinstance(command, Wake)]:
        link.wake(token)


def journaled(exchanges: list[tuple[memoryview, memoryview]], folder: Path) -> tuple[float, float, float]:
    """Microseconds for the relay, microseconds for the writer, bytes on disk, all for one request."""
    audit = build(Audit, journal=str(folder / "journal"))
    audit.start()
    relay = relayed(exchanges, audit)
    begun = time.thread_time()
    audit.stop()
    writer = (time.thread_time() - begun) / REQUESTS * 1e6
    size = sum(path.stat().st_size for path in (folder / "journal").rglob("*") if path.is_file())
    return relay, writer, size / REQUESTS


def put(folder: Path) -> float:
    """Microseconds to hand an event over."""
    journal = Journal(folder / "journal", folder / "key", "a", 0, FakeWorker().tell)
    journal.open()
    party, fields = SharedFields({"principal": "User:alice"}), {"api": "Produce"}
    begun = time.thread_time()
    for number in range(REQUESTS):
        journal.put("request", number, fields, party)
    taken = (time.thread_time() - begun) / REQUESTS * 1e6
    journal.close()
    return taken


def main() -> None:
    exchanges = frames()
    passed = min(relayed(exchanges) for _ in range(REPEATS))
    measured, handed = [], []
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory() as folder:
            measured.append(journaled(exchanges, Path(folder)))
            handed.append(put(Path(folder, "put")))
    relay, writer, size = (min(column) for column in zip(*measured, strict=True))
    print(f"{passed:6.1f} us  a Produce request and its answer, with no plugin")
    print(f"{relay:6.1f} us  with the journal: what the relay's thread does")
    print(f"{min(handed):6.1f} us    of which: to hand an event over")
    print(f"{writer:6.1f} us  what the writer's thread does: JSON, zstd, hashes, the disk")
    print(f"{size:6.1f} B   on disk, seals included")


if __name__ == "__main__":
    main()
