"""Message sets: the form of records before Kafka 0.11, magic 0 and 1.

They pass unread. Brokers still hand out message sets that were stored long ago, beside newer batches. `batches` finds
where they lie, so that they are forwarded with the partition's other records.

Source: org.apache.kafka.common.record.LegacyRecord.
"""

from typing import NamedTuple

LEAST = 14  # bytes behind the length of the shortest message, that of magic 0


class MessageSet(NamedTuple):
    """Messages that follow each other, as they came."""

    data: memoryview
    position: int  # where they were found
