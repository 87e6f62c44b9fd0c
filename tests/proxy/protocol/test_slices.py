"""Slices: a message read and written in slices is the same as in one go, and its elements are counted."""

import random

import pytest

from proxy.core.limits import Limits
from proxy.protocol.codec import decode, encode, slice_decode, slice_encode
from proxy.protocol.fiber import at_once
from proxy.protocol.messages.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from proxy.protocol.messages.create_topics import CreateTopicsRequest
from proxy.protocol.messages.describe_producers import DescribeProducersRequest
from proxy.protocol.messages.fetch import FetchRequest
from proxy.protocol.messages.list_partition_reassignments import ListPartitionReassignmentsRequest
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.messages.offset_commit import OffsetCommitRequest
from proxy.protocol.messages.share_group_describe import ShareGroupDescribeResponse
from proxy.protocol.picker import picker
from proxy.protocol.problem import ProtocolError, TooManyElementsError
from proxy.protocol.schema import blank
from proxy.protocol.slices import BYTES, ELEMENTS, NUMBERS, OTHERS, READ, WRITTEN, Pace, Sliced
from tests.proxy.protocol.generate import EVERY, make

PLENTY = 1_000_000


def slices_of(work: Sliced[object]) -> int:
    """So many slices does it take."""
    return sum(1 for _ in work)


def named(count: int, name: str = "topic-{:08}") -> MetadataRequest:
    return MetadataRequest(topics=[MetadataRequest.Topic(name=name.format(i)) for i in range(count)])


def test_every_message_is_read_and_written_in_slices_as_in_one_go():
    dice = random.Random(1)
    for cls, version in EVERY:
        message = make(cls, version, dice)
        body = encode(message, version)
        for data in (b"head" + body, memoryview(bytearray(b"head" + body))):
            again = at_once(slice_decode(cls, version, data, 4, PLENTY))
            assert again == message, (cls, version)
            assert b"".join(at_once(slice_encode(again, version))) == body, (cls, version)


def test_what_is_picked_in_slices_is_what_is_picked_in_one_go():
    dice = random.Random(2)
    for cls, version in EVERY:
        message = make(cls, version, dice)
        body = encode(message, version)
        for field in cls.fields:
            pick = picker(cls, version, field.name)
            if pick.wanted:
                picked = at_once(pick.slice_decode(memoryview(b"head" + body), 4, PLENTY))
                assert getattr(picked, field.name) == getattr(pick.decode(body), field.name), (cls, version)
                assert b"".join(at_once(pick.slice_encode(picked))) == body, (cls, version)


def test_bad_bytes_are_blamed_alike_however_they_are_read():
    dice = random.Random(3)
    for cls, version in EVERY:
        body = encode(make(cls, version, dice), version)
        if body:
            cut = body[: dice.randrange(len(body))]
            with pytest.raises(ProtocolError) as sliced:
                at_once(slice_decode(cls, version, b"head" + cut, 4, PLENTY))
            with pytest.raises(ProtocolError) as plain:
                decode(cls, version, cut)
            assert str(sliced.value) == str(plain.value)


def test_there_are_slices_where_there_is_much_and_hardly_any_where_there_is_little():
    few, many = encode(named(1), 9), encode(named(10_000), 9)
    assert slices_of(slice_decode(MetadataRequest, 9, few, 0, PLENTY)) == 1
    assert slices_of(slice_decode(MetadataRequest, 9, many, 0, PLENTY)) >= 10
    assert slices_of(slice_encode(named(1), 9)) == 1
    assert slices_of(slice_encode(named(10_000), 9)) >= 10_000 // WRITTEN


def test_a_slice_is_short_whatever_its_elements_are():
    empty = encode(named(10_000, ""), 9)
    assert slices_of(slice_decode(MetadataRequest, 9, empty, 0, PLENTY)) >= 10_000 * READ // BYTES
    groups = [blank(ShareGroupDescribeResponse.Group) for _ in range(1_000)]
    described = blank(ShareGroupDescribeResponse)
    described.groups = groups
    fields = len(ShareGroupDescribeResponse.Group.fields)
    assert slices_of(slice_encode(described, 1)) >= 1_000 * fields // WRITTEN


def test_finding_out_what_is_wrong_takes_slices_too():
    work = slice_decode(MetadataRequest, 9, encode(named(10_000), 9)[:-5], 0, PLENTY)
    for _ in range(10_000 // ELEMENTS):
        next(work)
    with pytest.raises(ProtocolError, match="topics"):
        at_once(work)


def test_more_elements_than_the_limit_are_refused_before_they_are_read():
    body = encode(named(1000), 9)
    assert len(at_once(slice_decode(MetadataRequest, 9, body, 0, 1000)).topics or ()) == 1000
    with pytest.raises(TooManyElementsError, match="more than 999 elements"):
        at_once(slice_decode(MetadataRequest, 9, body, 0, 999))
    pick = picker(MetadataRequest, 9, "include_topic_authorized_operations")
    with pytest.raises(TooManyElementsError):
        at_once(pick.slice_decode(body, 0, 999))  # also what is only gone over


def test_elements_within_elements_count_together():
    topic = OffsetCommitRequest.Topic
    body = encode(
        OffsetCommitRequest(
            group_id="g",
            topics=[
                topic(
                    name="t", partitions=[topic.Partition(partition_index=i, committed_offset=0, committed_metadata="")]
                )
                for i in range(10)
            ],
        ),
        8,
    )
    assert at_once(slice_decode(OffsetCommitRequest, 8, body, 0, 20))
    with pytest.raises(TooManyElementsError):
        at_once(slice_decode(OffsetCommitRequest, 8, body, 0, 19))


def test_of_a_request_a_sixth_may_be_no_partitions_and_of_an_answer_all():
    request, answer = encode(named(OTHERS + 1), 9), MetadataResponse(brokers=[], topics=[])
    with pytest.raises(TooManyElementsError, match="more than 50,000 elements that are no partitions"):
        at_once(slice_decode(MetadataRequest, 9, request, 0, 6 * OTHERS))
    with pytest.raises(TooManyElementsError, match="that are no partitions"):
        at_once(picker(MetadataRequest, 9, "include_topic_authorized_operations").slice_decode(request, 0, 6 * OTHERS))
    assert at_once(slice_decode(MetadataRequest, 9, request, 0, 6 * (OTHERS + 1)))
    answer.topics = [MetadataResponse.Topic(error_code=0, name=f"t{i}", partitions=[]) for i in range(OTHERS + 1)]
    assert at_once(slice_decode(MetadataResponse, 9, encode(answer, 9), 0, 6 * OTHERS))


def test_ten_thousand_topics_with_two_hundred_thousand_partitions_are_read():
    topic = FetchRequest.Topic
    partition = topic.Partition(partition=0, fetch_offset=0, partition_max_bytes=1)
    asked = FetchRequest(max_wait_ms=0, min_bytes=0, topics=[topic(topic="t", partitions=[partition] * 20)] * 10_000)
    assert len(at_once(slice_decode(FetchRequest, 11, encode(asked, 11), 0, Limits().elements)).topics) == 10_000


def assigned(arrays: list[int]) -> CreateTopicsRequest:
    """A request with arrays of so many numbers that are no partitions."""
    topic = CreateTopicsRequest.Topic
    assignments = [topic.Assignment(partition_index=0, broker_ids=list(range(size))) for size in arrays]
    asked = topic(name="t", num_partitions=-1, replication_factor=-1, assignments=assignments, configs=[])
    return CreateTopicsRequest(topics=[asked], timeout_ms=1)


@pytest.mark.parametrize("version", [4, 5])
def test_numbers_are_read_in_slices_and_eight_count_as_one(version):
    request, count = assigned([10 * NUMBERS]), 10 * NUMBERS
    body = encode(request, version)
    read = at_once(slice_decode(CreateTopicsRequest, version, body, 0, 2 + count // 8))
    assert read == decode(CreateTopicsRequest, version, body)
    assert slices_of(slice_decode(CreateTopicsRequest, version, body, 0, PLENTY)) > 10
    assert slices_of(slice_encode(request, version)) > 10
    with pytest.raises(TooManyElementsError):
        at_once(slice_decode(CreateTopicsRequest, version, body, 0, 1 + count // 8))


@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("size", [1, 3, 30, 31, 32, 200])
def test_many_short_arrays_count_as_much_as_one_long_one(version, size):
    body = encode(assigned([size] * 1000), version)
    all_of_them = 1 + 1000 + 1000 * size // 8
    assert at_once(slice_decode(CreateTopicsRequest, version, body, 0, all_of_them)).elements == all_of_them
    with pytest.raises(TooManyElementsError):
        at_once(slice_decode(CreateTopicsRequest, version, body, 0, all_of_them - 1))


def test_partitions_that_a_request_names_as_numbers_count_as_one_each():
    topic = DescribeProducersRequest.Topic
    for size in (5, 40, 2 * NUMBERS):
        request = DescribeProducersRequest(topics=[topic(name="t", partition_indexes=[0] * size)])
        body = encode(request, 0)
        assert at_once(slice_decode(DescribeProducersRequest, 0, body, 0, 1 + size)).elements == 1 + size
        with pytest.raises(TooManyElementsError):
            at_once(slice_decode(DescribeProducersRequest, 0, body, 0, size))


def test_unknown_tags_are_elements():
    request = named(0)
    request.unknown_tags = [(tag, b"") for tag in range(100, 200)]
    body = encode(request, 9)
    assert at_once(slice_decode(MetadataRequest, 9, body, 0, 100)) == decode(MetadataRequest, 9, body)
    with pytest.raises(TooManyElementsError):
        at_once(slice_decode(MetadataRequest, 9, body, 0, 99))


def test_two_hundred_thousand_partitions_pass_also_where_they_are_numbers_or_have_replicas():
    named, moved = ListPartitionReassignmentsRequest.Topic, AlterPartitionReassignmentsRequest.Topic
    for request in (
        ListPartitionReassignmentsRequest(topics=[named(name="t", partition_indexes=[0] * 20)] * 10_000),
        AlterPartitionReassignmentsRequest(
            topics=[moved(name="t", partitions=[moved.Partition(partition_index=0, replicas=[1, 2, 3])] * 20)] * 10_000
        ),
    ):
        read = at_once(slice_decode(type(request), 0, encode(request, 0), 0, Limits().elements))
        assert len(read.topics or ()) == 10_000


def test_a_cluster_of_ten_thousand_topics_is_well_within_half_a_million_elements():
    partition = MetadataResponse.Topic.Partition(
        error_code=0, partition_index=0, leader_id=1, replica_nodes=[1, 2, 3], isr_nodes=[1, 2, 3], offline_replicas=[]
    )
    topic = MetadataResponse.Topic(error_code=0, name="t", partitions=[partition] * 20)
    body = encode(MetadataResponse(brokers=[], topics=[topic] * 10_000), 9)
    assert len(at_once(slice_decode(MetadataResponse, 9, body, 0, 500_000)).topics) == 10_000


def test_large_values_are_not_copied_when_a_message_is_written():
    pick = picker(MetadataRequest, 9, "topics")
    body = encode(named(3), 9)
    picked = at_once(pick.slice_decode(body, 0, PLENTY))
    picked.opaque = (*picked.opaque[:-1], large := memoryview(bytes(1 << 20)))
    assert any(piece is large for piece in at_once(pick.slice_encode(picked)))


def test_a_pace_says_after_so_many_elements_that_it_is_due():
    pace = Pace()
    assert [pace.is_due() for _ in range(2 * ELEMENTS)].count(True) == 2
    assert slices_of(Pace().all(range(3 * ELEMENTS))) == 3
    assert at_once(Pace().all("abc")) == ["a", "b", "c"]
