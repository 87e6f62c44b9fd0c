"""Generated readers: tagged fields that Kafka would read in another way are refused."""

from random import Random

import pytest

from proxy.protocol.codec import BAD_BYTES, decode, encode, skipper, tags_finder
from proxy.protocol.messages.fetch import FetchRequest
from proxy.protocol.messages.list_offsets import ListOffsetsRequest
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.picker import picker
from proxy.protocol.problem import ProtocolError
from proxy.protocol.schema import blank
from tests.proxy.protocol.generate import make

PICKED = ["session_id", "replica_state"]


def test_a_known_tag_of_another_size_than_it_says_is_refused():
    with pytest.raises(ProtocolError, match="bytes"):
        decode(MetadataRequest, 12, bytes.fromhex("01 01 00 01 05 ff ff ff ff 0f"))


@pytest.mark.parametrize("read", [decode, lambda cls, version, data: picker(cls, version, *PICKED).decode(data)])
def test_no_field_hides_inside_another_that_nobody_reads(read):
    """Kafka would read the cluster's id as far as it goes, and then the next tag: a follower's."""
    tags = bytes.fromhex("02 00 11 02 63 01 0d 00000000 0000000000000000 00 5a 00")
    body = encode(make(FetchRequest, 15, Random(1)), 15)
    end = tags_finder(FetchRequest, 15)(body, 0)
    with pytest.raises(ProtocolError, match="cluster_id is not the 17 bytes that its tag says"):
        read(FetchRequest, 15, body[:end] + tags)


@pytest.mark.parametrize("read", [decode, lambda cls, version, data: picker(cls, version, *PICKED).decode(data)])
def test_no_tag_comes_twice(read):
    body = encode(make(FetchRequest, 15, Random(1)), 15)
    end = tags_finder(FetchRequest, 15)(body, 0)
    assert decode(FetchRequest, 15, body[:end] + bytes.fromhex("02 5b 00 5a 00")).unknown_tags == [(91, b""), (90, b"")]
    with pytest.raises(ProtocolError, match="tags has tag 90 twice, at byte"):
        read(FetchRequest, 15, body[:end] + bytes.fromhex("02 5a 00 5a 00"))


def test_skipping_goes_by_what_a_known_tag_says_and_not_by_its_size():
    topic = FetchRequest.Topic(topic_id=bytes(16), partitions=[blank(FetchRequest.Topic.Partition)])
    topic.partitions[0].replica_directory_id = bytes([7] * 16)
    body = encode(FetchRequest(max_wait_ms=1, min_bytes=1, topics=[topic]), 17)
    assert skipper(FetchRequest, 17)(body, 0) == len(body)
    size = body.index(bytes([7] * 16)) - 1
    with pytest.raises(BAD_BYTES):
        skipper(FetchRequest, 17)(body[:size] + bytes([18]) + body[size + 1 :], 0)


def test_skipping_stops_where_tags_go_past_the_end():
    body = bytes.fromhex("ffffffff 00 01 01 05 09 00")
    with pytest.raises(Exception, match=r"^$"):
        skipper(ListOffsetsRequest, 6)(body, 0)
