"""A consumer that fetches one partition, and a broker with records in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from proxy.protocol.messages.fetch import FetchRequest, FetchResponse
from proxy.protocol.records import Record, RecordBatch, batches, write_batch
from tests.plugins.faults.talking import FaultFile, FaultTalk

Aborted = FetchResponse.Topic.Partition.AbortedTransaction


def batch(at: int, *values: bytes, **more: Any) -> bytes:
    """A batch whose first record has this offset."""
    times = range(1_000_000, 1_000_000 + len(values))
    records = [Record(None, value, timestamp=time) for value, time in zip(values, times, strict=True)]
    return write_batch(records, base_offset=at, **more)


def fetched(*partitions: bytes, aborted: list[Any] | None = None) -> Any:
    """A broker with these records."""

    def answer(request: Any, version: int) -> Any:
        each = [
            FetchResponse.Topic.Partition(
                partition_index=index,
                error_code=0,
                high_watermark=100,
                last_stable_offset=100,
                records=records,
                aborted_transactions=aborted,
            )
            for index, records in enumerate(partitions)
        ]
        return FetchResponse(responses=[FetchResponse.Topic(topic="orders", partitions=each)])

    return answer


def fetch(partitions: int = 1) -> FetchRequest:
    """A Fetch request for all records."""
    asked = [
        FetchRequest.Topic.Partition(partition=index, fetch_offset=0, partition_max_bytes=1000)
        for index in range(partitions)
    ]
    topics = [FetchRequest.Topic(topic="orders", partitions=asked)]
    return FetchRequest(max_wait_ms=500, min_bytes=1, topics=topics, forgotten_topics_data=[], rack_id="")


def with_fault(folder: Path, do: str, *partitions: bytes, aborted: list[Any] | None = None) -> tuple[Any, FaultFile]:
    """The partitions that a consumer gets with this fault, and the fault file."""
    faults = FaultFile(folder, f"faults: [{{match: {{api: Fetch}}, do: {do}}}]")
    answer = FaultTalk(faults, fetched(*partitions, aborted=aborted)).ask(fetch(len(partitions)), 11)
    return answer.responses[0].partitions, faults


def read(records: Any) -> list[tuple[int, bytes]]:
    """Offsets and values of all records."""
    found = [it for it in batches(bytes(records), partial=True) if isinstance(it, RecordBatch)]
    return [(record.offset, bytes(record.value or b"")) for it in found for record in it.records()]
