"""Generated writers: they write messages as Kafka would. test_codec.py tests that all can be read again."""

from proxy.protocol.codec import encode
from proxy.protocol.messages.fetch import FetchResponse
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.messages.offset_commit import OffsetCommitRequest

Partition = FetchResponse.Topic.Partition


def partition(**fields):
    given = {"partition_index": 0, "error_code": 0, "high_watermark": 0, "aborted_transactions": None, "records": None}
    return FetchResponse(responses=[FetchResponse.Topic(partitions=[Partition(**given | fields)])])


def test_a_field_that_the_version_lacks_is_left_out():
    request = MetadataRequest(topics=[], allow_auto_topic_creation=False)
    assert [len(encode(request, version)) for version in (0, 3, 4)] == [4, 4, 5]


def test_a_struct_under_a_tag_is_left_out_while_it_says_nothing():
    silent = encode(partition(), 12)
    assert encode(partition(current_leader=Partition.Leader()), 12) == silent
    assert len(encode(partition(current_leader=Partition.Leader(leader_id=1)), 12)) == len(silent) + 11


def test_tags_ascend_also_between_known_and_unknown_ones():
    message = partition(
        snapshot_id=Partition.SnapshotId(end_offset=1),
        diverging_epoch=Partition.EpochEndOffset(epoch=1),
        unknown_tags=[(1000, b"z"), (5, b"y")],
    )
    body = encode(message, 12)
    at = [body.rindex(bytes.fromhex(tag)) for tag in ("000d", "020d", "050179", "e807017a")]
    assert at == sorted(at)


def test_null_is_written_in_each_kind_of_length():
    request = OffsetCommitRequest(group_id="g", topics=[])
    topic = OffsetCommitRequest.Topic(
        partitions=[OffsetCommitRequest.Topic.Partition(partition_index=0, committed_offset=0, committed_metadata=None)]
    )
    request.topics = [topic]
    assert encode(request, 2).endswith(b"\xff\xff")
    assert encode(request, 8).endswith(b"\x00" + b"\x00" * 3)
    assert encode(MetadataRequest(topics=None), 1) == b"\xff\xff\xff\xff"
    assert encode(MetadataRequest(topics=None), 9)[:1] == b"\x00"
