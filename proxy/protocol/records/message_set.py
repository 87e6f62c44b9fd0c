"""Message sets: what records were before Kafka 0.11, magic 0 and 1.

They pass unread. Brokers still hand out those that were stored long ago, beside newer batches; `batches` finds where
they lie, and whoever forwards a partition's records forwards them with it.

Source: org.apache.kafka.common.record.LegacyRecord.
"""

from typing import NamedTuple

LEAST = 14  # bytes behind the length of the shortest message, that of magic 0


class MessageSet(NamedTuple):
    """Messages that follow each other, as they came."""

    data: memoryview
    position: int  # where they were found
