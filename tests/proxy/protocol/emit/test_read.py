"""Generated readers: strings that Kafka would not read are refused. test_codec.py tests valid bytes."""

import pytest

from proxy.protocol.codec import decode, encode
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.messages.sasl_handshake import SaslHandshakeRequest
from proxy.protocol.picker import picker
from proxy.protocol.problem import ProtocolError
from proxy.protocol.wire import LONGEST_STRING


def test_text_that_is_no_utf_8_is_read_as_kafka_reads_it():
    assert decode(SaslHandshakeRequest, 0, bytes.fromhex("0002 61ff")).mechanism == "a\ufffd"


def test_a_name_that_is_no_utf_8_is_refused():
    with pytest.raises(ProtocolError, match=r"topics\[0\]\.name is a name that is not UTF-8, at byte 4"):
        decode(MetadataRequest, 0, bytes.fromhex("00000001 0002 61ff"))


@pytest.mark.parametrize("read", [decode, lambda cls, version, data: picker(cls, version, "topics").decode(data)])
def test_a_string_is_no_longer_than_kafka_reads_also_where_its_length_is_a_varint(read):
    def named(size):
        topic = MetadataRequest.Topic(name="x" * size)
        return encode(MetadataRequest(topics=[topic], allow_auto_topic_creation=True), 9)

    assert read(MetadataRequest, 9, named(LONGEST_STRING)).topics[0].name == "x" * LONGEST_STRING
    with pytest.raises(ProtocolError, match=r"topics\[0\]\.name has 32768 bytes, more than 32767, at byte 1"):
        read(MetadataRequest, 9, named(LONGEST_STRING + 1))
