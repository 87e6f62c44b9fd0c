"""Shared by tests of records: records to write, and helpers to read them back."""

import struct

from hypothesis import strategies as st

from proxy.protocol.records import CompressionType, Header, Record, RecordBatch, batches
from proxy.protocol.records.record import NEXT

payloads = st.none() | st.binary(max_size=300)
headers = st.builds(Header, st.text(max_size=20), payloads)
records = st.builds(
    Record,
    payloads,
    payloads,
    st.lists(headers, max_size=3).map(tuple),
    st.integers(-1, 1 << 62),
    st.just(NEXT),
)
codecs = st.sampled_from(CompressionType)


def only(data: bytes) -> RecordBatch:
    """The only batch in `data`."""
    (batch,) = batches(data)
    assert isinstance(batch, RecordBatch)
    return batch


def contents(batch: RecordBatch) -> list[Record]:
    """The records, with bytes for slices."""

    def copied(value: bytes | memoryview | None) -> bytes | None:
        return None if value is None else bytes(value)

    return [
        record._replace(
            key=copied(record.key),
            value=copied(record.value),
            headers=tuple(Header(name, copied(value)) for name, value in record.headers),
        )
        for record in batch.records()
    ]


def patched(data: bytes, at: int, fmt: str, *values: int) -> bytes:
    """The same bytes, with some replaced at one position."""
    changed = bytearray(data)
    struct.pack_into(fmt, changed, at, *values)
    return bytes(changed)
