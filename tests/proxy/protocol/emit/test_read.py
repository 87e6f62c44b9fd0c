"""Printed readers: bytes that lie about themselves are not believed. What they read right is shown by test_codec.py."""

import pytest

from proxy.protocol.codec import decode, skipper
from proxy.protocol.messages.list_offsets import ListOffsetsRequest
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.messages.offset_fetch import OffsetFetchRequest
from proxy.protocol.problem import ProtocolError


def test_a_huge_count_costs_no_memory():
    for count in ("7fffffff", "0fffffff"):
        with pytest.raises(ProtocolError, match="more than 4 bytes can hold"):
            decode(MetadataRequest, 0, bytes.fromhex(count + "00000000"))


def test_null_and_empty_are_kept_apart():
    assert decode(MetadataRequest, 1, bytes.fromhex("ffffffff")).topics is None
    assert decode(MetadataRequest, 1, bytes.fromhex("00000000")).topics == []
    assert decode(OffsetFetchRequest, 6, bytes.fromhex("02 67 00 00")).topics is None


def test_text_that_is_no_utf_8_is_read_as_kafka_reads_it():
    assert decode(MetadataRequest, 0, bytes.fromhex("00000001 0002 61ff")).topics[0].name == "a\ufffd"


def test_a_known_tag_of_another_size_than_it_says_is_refused():
    with pytest.raises(ProtocolError, match="bytes"):
        decode(MetadataRequest, 12, bytes.fromhex("01 01 00 01 05 ff ff ff ff 0f"))


def test_skipping_stops_where_tags_go_past_the_end():
    body = bytes.fromhex("ffffffff 00 01 01 05 09 00")
    with pytest.raises(Exception, match=r"^$"):
        skipper(ListOffsetsRequest, 6)(body, 0)
