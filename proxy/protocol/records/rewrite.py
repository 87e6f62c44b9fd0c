"""Rewrites the records of a partition, whatever batches they lie in.

    partition.records = rewrite_records(partition.records, lambda record: record._replace(value=...))

Rules:
* Batches keep all that their headers promise (`write.py`): codec, producer, sequence, transaction, offsets.
* Control batches are Kafka's own, and stay as they are. So does a batch of which no record is changed.
* A wrong checksum is never replaced by a right one: such a batch is an error, and so is a batch that cannot be read.
* Records are read, changed and written one by one: together they would take many times the bytes of their batch.
* Messages of magic 0 and 1 are not read here: a caller that has to change all records must refuse them.
"""

from collections.abc import Callable
from itertools import chain, islice

from proxy.protocol.fiber import turns
from proxy.protocol.problem import ProtocolError
from proxy.protocol.records.batch import RecordBatch, batches
from proxy.protocol.records.message_set import MessageSet
from proxy.protocol.records.record import Record
from proxy.protocol.records.write import rewrite_batch


class MessageSetError(ProtocolError):
    """There are messages of magic 0 or 1, which are not rewritten."""


def rewrite_records(
    data: bytes | memoryview, change: Callable[[Record], Record], *, partial: bool = False
) -> bytes | memoryview:
    """`data` with every record as `change` returns it; `data` itself if no record is changed.

    With `partial` a last batch may break off, as in a Fetch answer, and is left out. Raises ProtocolError if records
    cannot be read; MessageSetError is one.
    """
    pieces: list[bytes | memoryview] = []
    rewritten, length = False, 0
    for batch in batches(data, partial=partial):
        length += len(batch.data)
        if isinstance(batch, MessageSet):
            raise MessageSetError("messages of magic 0 or 1 are not rewritten", position=batch.position)
        if batch.is_control:
            pieces.append(batch.data)
            continue
        if not batch.is_intact:
            raise ProtocolError("a record batch does not have the bytes of its checksum", position=batch.position)
        other = _rewritten(batch, change)
        pieces.append(batch.data if other is None else other)
        rewritten |= other is not None
    return b"".join(pieces) if rewritten or length < len(data) else data


def _rewritten(batch: RecordBatch, change: Callable[[Record], Record]) -> bytes | None:
    """The batch with every record as `change` returns it; None if no record is changed."""
    records = iter(turns(batch.records()))
    for unchanged, record in enumerate(records):
        changed = change(record)
        if changed is not record:
            before = islice(turns(batch.records()), unchanged)  # they were not kept, so they are read again
            return rewrite_batch(batch, chain(before, [changed], map(change, records)))
    return None
