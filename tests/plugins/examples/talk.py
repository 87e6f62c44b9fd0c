"""Shared by tests of the example plugins: Produce requests and their records."""

from __future__ import annotations

from typing import Any

from proxy.plugin import ProduceRequest, ProtocolError, Record, RecordBatch, batches, write_batch

OLD_MESSAGE = bytes(8) + (14).to_bytes(4, "big") + bytes(14)  # a message in the old format, magic 0


def produce(*records: bytes | None, acks: int = 1) -> ProduceRequest:
    """A Produce request for one topic, with one partition for each of these records."""
    partitions = [ProduceRequest.Topic.Partition(index=index, records=each) for index, each in enumerate(records)]
    topic = ProduceRequest.Topic(name="orders", partition_data=partitions)
    return ProduceRequest(acks=acks, timeout_ms=1000, topic_data=[topic])


def batch(*values: bytes | None, **options: Any) -> bytes:
    """A batch of records with these values."""
    return write_batch([Record(b"k", value, timestamp=5) for value in values], **options)


def records(data: bytes | memoryview | None) -> list[Record]:
    """All records of these bytes. Raises ProtocolError."""
    found = []
    for each in batches(data or b""):
        if not isinstance(each, RecordBatch):
            raise ProtocolError("old messages")
        assert each.is_intact
        found += each.records()
    return found
