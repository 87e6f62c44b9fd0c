"""Records that faults change, batch by batch."""

from plugins.faults.records import readable, rewritten
from proxy.protocol.records import RecordBatch
from tests.plugins.faults.fetching import batch

ONE, TWO = batch(0, b"a"), batch(1, b"b")


def test_what_nobody_changes_stays_as_it_is() -> None:
    assert rewritten(ONE + TWO + b"\0\0\0", lambda batch: None) == ONE + TWO + b"\0\0\0"


def test_a_batch_is_changed_in_its_place() -> None:
    def change(it: object) -> bytes | None:
        return b"other" if isinstance(it, RecordBatch) and it.base_offset == 0 else None

    assert rewritten(ONE + TWO, change) == b"other" + TWO


def test_the_batches_end_where_the_bytes_are_none() -> None:
    assert [len(it.data) for it in readable(ONE + b"\0" * 50 + TWO)] == [len(ONE)]
