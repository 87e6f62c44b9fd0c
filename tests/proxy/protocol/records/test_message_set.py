"""Old message sets: they pass unread, in their place among batches."""

from proxy.protocol.records import MessageSet, Record, RecordBatch, batches, write_batch

MESSAGE_0 = bytes.fromhex("0000000000000007 00000010 00000000 00 00 ffffffff 00000002 6869")
MESSAGE_1 = bytes.fromhex("0000000000000008 00000018 00000000 01 00 0000000000000005 ffffffff 00000002 6869")


def test_message_sets_pass_unread_in_their_place() -> None:
    batch = write_batch([Record(b"a", None)])
    found = list(batches(MESSAGE_0 + MESSAGE_1 + batch + MESSAGE_1))
    assert [type(part) for part in found] == [MessageSet, RecordBatch, MessageSet]
    assert [bytes(part.data) for part in found] == [MESSAGE_0 + MESSAGE_1, batch, MESSAGE_1]
    assert [part.position for part in found] == [0, 64, 64 + len(batch)]
