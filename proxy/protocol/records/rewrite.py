"""Rewrites the records of a partition, whatever batches they lie in.

    partition.records = rewrite_records(partition.records, lambda record: record._replace(value=...))

Rules:
* Batches keep all that their headers promise (`write.py`): codec, producer, sequence, transaction, offsets.
* Control batches are Kafka's own, and stay as they are. So does a batch of which no record is changed.
* A wrong checksum is never replaced by a right one: such a batch is an error, and so is a batch that cannot be read.
* Messages of magic 0 and 1 are not read here: a caller that has to change all records must refuse them.
"""

from collections.abc import Callable

from proxy.protocol.fiber import turns
from proxy.protocol.problem import ProtocolError
from proxy.protocol.records.batch import batches
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
        before = list(turns(batch.records()))
        after = [change(record) for record in turns(before)]
        if all(one is other for one, other in zip(before, after, strict=True)):
            pieces.append(batch.data)
        else:
            pieces.append(rewrite_batch(batch, after))
            rewritten = True
    return b"".join(pieces) if rewritten or length < len(data) else data
