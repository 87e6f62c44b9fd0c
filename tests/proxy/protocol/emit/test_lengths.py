"""Generated readers: lengths, counts and nulls. test_codec.py tests valid bytes."""

import pytest

from proxy.protocol.codec import decode
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
