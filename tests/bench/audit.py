"""The cost of the audit journal: CPU time of a request, and bytes on disk.

    python -m tests.bench.audit

Produce requests of one partition are played through a link, with and without the plugin; then its events are written.
Clients wait for the relay's share. The writer's share is done in another thread of the same interpreter.

Measured: the writer takes 3 us an event, at 30 bytes on disk: 1 for its line, 1 for the hash of that, 0.5 for zstd; a
topic as the sink takes 9 us more, in a thread of its own. Beside `acl` the relay takes 1 to 1.3 us to count a Produce
request and its answer (50 links in turn), 1.6 to 2 to tell it in full, and 60 to read both.
"""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path

from plugins.audit import Audit
from plugins.audit.journal import Journal
from plugins.audit.shared import SharedFields
from proxy.plugin import ProduceRequest, ProduceResponse, Record, write_batch
from proxy.testing import FakeClock, FakeWorker, build, request_frame, response_frame
from tests.bench.exchanges import Exchange, relayed

REQUESTS = 20_000  # fewer than fit into the queue, each with its topic
ALICE = "User:alice"
VERSION = 9
REPEATS = 5


def frames() -> list[Exchange]:
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


def journaled(exchanges: list[Exchange], folder: Path) -> tuple[float, float, float]:
    """Microseconds for the relay, microseconds for the writer, bytes on disk, all for one request."""
    audit = build(Audit, journal=str(folder / "journal"))
    audit.start()
    relay = relayed(exchanges, audit, principal=ALICE)
    begun = time.thread_time()
    audit.stop()
    writer = (time.thread_time() - begun) / REQUESTS * 1e6
    size = sum(path.stat().st_size for path in (folder / "journal").rglob("*") if path.is_file())
    return relay, writer, size / REQUESTS


def put(folder: Path) -> float:
    """Microseconds to hand an event over to the journal."""
    journal = Journal(folder / "journal", folder / "key", "a", 0, FakeWorker().tell, FakeClock())
    journal.open()
    party, fields = SharedFields({"principal": ALICE}), {"api": "Produce"}
    begun = time.thread_time()
    for number in range(REQUESTS):
        journal.put("request", number, fields, party)
    taken = (time.thread_time() - begun) / REQUESTS * 1e6
    journal.close()
    return taken


def main() -> None:
    exchanges = frames()
    passed = min(relayed(exchanges, principal=ALICE) for _ in range(REPEATS))
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
