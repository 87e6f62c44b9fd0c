"""Control records: Kafka itself writes them between the records of producers.

Rules:
* A batch with `is_control` has control records only; consumers count their offsets and never see them.
* The key says the kind. An unknown kind is UNKNOWN, not an error: newer brokers may have more kinds.

Sources: KIP-98, KIP-595; org.apache.kafka.common.record.ControlRecordType and EndTransactionMarker.
"""

import struct
from enum import IntEnum
from typing import NamedTuple, Self

from proxy.protocol.problem import ProtocolError
from proxy.protocol.records.record import Record

_KEY = struct.Struct(">hh")  # version, type
_MARKER = struct.Struct(">hi")  # version, coordinator epoch
_VERSION = 0


class ControlType(IntEnum):
    """The kind of a control record."""

    UNKNOWN = -1
    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6

    @classmethod
    def _missing_(cls, number: object) -> "ControlType":
        return cls.UNKNOWN


def control_type(record: Record) -> ControlType:
    """The kind of a control record. Raises ProtocolError if its key is not one of a control record."""
    if record.key is None or len(record.key) < _KEY.size:
        raise ProtocolError("the key of a control record is too short")
    version, number = _KEY.unpack_from(record.key)
    if version < _VERSION:
        raise ProtocolError(f"a control record has version {version}")
    return ControlType(number)


class EndTxnMarker(NamedTuple):
    """The end of a producer's transaction in one partition."""

    type: ControlType  # ABORT or COMMIT
    coordinator_epoch: int

    @classmethod
    def read(cls, record: Record) -> Self | None:
        """The marker in a control record, or None for a record of another kind."""
        kind = control_type(record)
        if kind not in (ControlType.ABORT, ControlType.COMMIT):
            return None
        if record.value is None or len(record.value) < _MARKER.size:
            raise ProtocolError("the value of a transaction marker is too short")
        version, coordinator_epoch = _MARKER.unpack_from(record.value)
        if version < _VERSION:
            raise ProtocolError(f"a transaction marker has version {version}")
        return cls(kind, coordinator_epoch)

    def record(self, timestamp: int) -> Record:
        """The control record of this marker."""
        value = _MARKER.pack(_VERSION, self.coordinator_epoch)
        return Record(_KEY.pack(_VERSION, self.type), value, timestamp=timestamp)
