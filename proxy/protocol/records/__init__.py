"""Records in Produce requests and Fetch answers: record batches, and the older message sets."""

from proxy.protocol.records.batch import RecordBatch, batches, most_records
from proxy.protocol.records.compression import CompressionType
from proxy.protocol.records.control import ControlType, EndTxnMarker, control_type
from proxy.protocol.records.message_set import MessageSet
from proxy.protocol.records.record import Header, Record
from proxy.protocol.records.rewrite import MessageSetError, rewrite_records
from proxy.protocol.records.write import rewrite_batch, write_batch

__all__ = [
    "CompressionType",
    "ControlType",
    "EndTxnMarker",
    "Header",
    "MessageSet",
    "MessageSetError",
    "Record",
    "RecordBatch",
    "batches",
    "control_type",
    "most_records",
    "rewrite_batch",
    "rewrite_records",
    "write_batch",
]
