"""Control records: their types, and transaction markers."""

import pytest

from proxy.protocol.problem import ProtocolError
from proxy.protocol.records import ControlType, EndTxnMarker, Record, RecordBatch, batches, control_type, write_batch


@pytest.mark.parametrize("kind", [ControlType.ABORT, ControlType.COMMIT])
def test_a_marker_is_read_from_its_batch(kind: ControlType) -> None:
    marker = EndTxnMarker(kind, 42)
    data = write_batch([marker.record(1000)], producer_id=5, producer_epoch=1, transactional=True, control=True)
    (batch,) = batches(data)
    assert isinstance(batch, RecordBatch)
    assert batch.is_control
    (record,) = batch.records()
    assert record.timestamp == 1000
    assert EndTxnMarker.read(record) == marker


def test_a_record_of_another_kind_is_no_marker() -> None:
    assert EndTxnMarker.read(Record(b"\0\0\0\2", None)) is None


def test_a_kind_of_a_newer_kafka_is_unknown() -> None:
    assert control_type(Record(b"\0\0\0\x63", None)) is ControlType.UNKNOWN


@pytest.mark.parametrize("key", [None, b"", b"\0\0\0", b"\xff\xff\0\0"])
def test_a_key_that_is_none_is_refused(key: bytes | None) -> None:
    with pytest.raises(ProtocolError, match="control record"):
        control_type(Record(key, None))


@pytest.mark.parametrize("value", [None, b"\0\0\0\0\0", b"\xff\xff\0\0\0\0"])
def test_a_marker_without_a_value_is_refused(value: bytes | None) -> None:
    with pytest.raises(ProtocolError, match="transaction marker"):
        EndTxnMarker.read(Record(b"\0\0\0\0", value))
