"""Bodies and messages: written messages can be read again, and errors say whose fault unreadable bytes are."""

import contextlib
import random
from functools import partial

import pytest

from proxy.protocol.codec import decode, decode_ignoring_rest, encode, skipper
from proxy.protocol.fiber import at_once
from proxy.protocol.messages.fetch import FetchRequest, FetchResponse
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.messages.produce import ProduceRequest
from proxy.protocol.picker import picker
from proxy.protocol.problem import Fault, ProtocolError
from tests.proxy.protocol.generate import EVERY, make, structs_of


def test_every_message_in_every_version_is_read_as_it_was_written():
    dice = random.Random(1)
    for cls, version in EVERY:
        for _ in range(3):
            message = make(cls, version, dice)
            body = encode(message, version)
            assert decode(cls, version, body) == message, (cls, version)
            assert encode(decode(cls, version, body), version) == body, (cls, version)


def test_unknown_tagged_fields_survive_at_every_level_in_ascending_order():
    dice = random.Random(2)
    for cls, version in EVERY:
        if not cls.is_flexible(version):
            continue
        message = make(cls, version, dice)
        for struct in structs_of(message):
            struct.unknown_tags = [(90, b"new"), (1000, b"")]
        body = encode(message, version)
        again = decode(cls, version, body)
        assert encode(again, version) == body, (cls, version)
        assert all(struct.unknown_tags == [(90, b"new"), (1000, b"")] for struct in structs_of(again)), (cls, version)


def test_a_tagged_field_at_its_default_is_not_written():
    request = FetchRequest(max_wait_ms=0, min_bytes=0, topics=[], cluster_id=None)
    assert encode(request, 12)[-1] == 0
    request.cluster_id = "here"
    assert encode(request, 12)[-7:] == b"\x01\x00\x05\x05here"[-7:]


@pytest.mark.parametrize("names", [["brokers"], ["cluster_id"], ["throttle_time_ms", "topics"], ["error_code"]])
def test_what_is_picked_can_be_changed_and_the_rest_stays_byte_for_byte(names):
    dice = random.Random(3)
    for version in range(14):
        message = make(MetadataResponse, version, dice)
        body = encode(message, version)
        pick = picker(MetadataResponse, version, *names)
        if pick.wanted:
            picked = pick.decode(body)
            assert pick.encode(picked) == body
            assert all(getattr(picked, name) == getattr(message, name) for name in pick.wanted)


def test_picked_brokers_are_replaced_before_an_unread_tail():
    message = make(MetadataResponse, 12, random.Random(4))
    message.brokers = [MetadataResponse.Broker(node_id=7, host="inside", port=1)]
    pick = picker(MetadataResponse, 12, "brokers")
    picked = pick.decode(encode(message, 12))
    picked.brokers[0].host = message.brokers[0].host = "a.much.longer.name.outside"
    assert pick.encode(picked) == encode(message, 12)


def test_picked_tagged_fields_are_found_behind_everything_else():
    message = make(FetchResponse, 17, random.Random(5))
    message.node_endpoints = [FetchResponse.NodeEndpoint(node_id=1, host="inside", port=9092)]
    pick = picker(FetchResponse, 17, "node_endpoints")
    picked = pick.decode(encode(message, 17))
    picked.node_endpoints = message.node_endpoints = []
    assert pick.encode(picked) == encode(message, 17)


@pytest.mark.parametrize("version", [0, 12])
def test_a_field_that_was_left_unread_has_no_value_and_none_that_is_set_is_lost(version):
    pick = picker(MetadataResponse, version, "brokers")
    body = encode(make(MetadataResponse, version, random.Random(8)), version)
    if not version:
        assert pick.decode(body).cluster_id is None, "what a version lacks is at its default"
    for picked in (pick.decode(body), pick.prefix(body, 0), at_once(pick.slice_decode(body, 0, 1000))):
        with pytest.raises(AttributeError, match=r"^MetadataResponse\.topics was not read: name it in the fields"):
            picked.topics  # noqa: B018
        picked.topics = []
        said = rf"^Metadata response v{version}: topics was set, but not read: name it in the fields of the handler$"
        with pytest.raises(ProtocolError, match=said):
            pick.encode(picked)
        with pytest.raises(ProtocolError, match=said):
            at_once(pick.slice_encode(picked))


def test_a_field_that_is_misspelt_cannot_be_picked():
    with pytest.raises(TypeError, match="no field 'ack'"):
        picker(ProduceRequest, 9, "ack")


def test_leading_fields_are_read_from_a_frame_that_has_not_come_whole():
    body = encode(ProduceRequest(transactional_id="t", acks=-1, timeout_ms=5, topic_data=[]), 9)
    acks = picker(ProduceRequest, 9, "acks")
    assert [acks.prefix(body[:size], 0) is not None for size in range(5)] == [False, False, False, False, True]
    read = acks.prefix(b"header" + body, 6)
    assert read is not None
    assert read.acks == -1


def test_a_skipper_finds_where_a_message_ends():
    dice = random.Random(6)
    for cls, version in EVERY:
        body = encode(make(cls, version, dice), version)
        assert skipper(cls, version)(b"12" + body + b"rest", 2) == 2 + len(body), (cls, version)


def test_what_librdkafka_sends_too_much_can_be_ignored():
    body = bytes.fromhex("00000000010000")
    assert decode_ignoring_rest(MetadataRequest, 13, body).topics is None
    with pytest.raises(ProtocolError, match="at byte 2"):
        decode_ignoring_rest(MetadataRequest, 13, body[:2])


def test_bytes_that_are_left_over_are_no_part_of_a_message():
    with pytest.raises(ProtocolError, match="Metadata request v0: 1 bytes too many, at byte 4"):
        decode(MetadataRequest, 0, bytes(5))


@pytest.mark.parametrize(
    ("cls", "version", "body", "complaint"),
    [
        (MetadataRequest, 0, "00", "Metadata request v0: topics needs 4 bytes where 1 are left, at byte 0"),
        (MetadataRequest, 0, "ffffffff", "Metadata request v0: topics is null, and may not be, at byte 0"),
        (MetadataRequest, 0, "7fffffff", "topics has 2147483647 elements, more than 0 bytes can hold, at byte 0"),
        (MetadataRequest, 0, "00000001 0009 61", r"topics\[0\].name needs 9 bytes where 1 are left, at byte 6"),
        (MetadataRequest, 9, "ffffffffff7f", "topics has a length that is no varint, at byte 0"),
        (MetadataRequest, 9, "01 01 00 00 01 05 0a 00", "tag 5 needs 10 bytes where 1 are left, at byte 7"),
    ],
)
def test_bad_bytes_are_blamed_on_their_field_and_place(cls, version, body, complaint):
    with pytest.raises(ProtocolError, match=complaint) as problem:
        decode(cls, version, bytes.fromhex(body))
    assert problem.value.fault is Fault.CLIENT


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"topics": None}, "Metadata request v0: topics is null, and may not be"),
        ({"topics": 5}, "topics is 5, which is no array"),
        ({"topics": [MetadataRequest.Topic(name=5)]}, r"topics\[0\].name is 5, which is no string"),
        ({"topics": [MetadataRequest.Topic(name="x" * 40000)]}, r"topics\[0\].name has 40000 bytes, more than 32767"),
        ({"topics": [MetadataRequest.Topic(name="\ud800")]}, "characters that UTF-8 cannot write"),
    ],
)
def test_a_message_that_cannot_be_written_names_the_field(change, complaint):
    with pytest.raises(ProtocolError, match=complaint) as problem:
        encode(MetadataRequest(**change), 0)
    assert problem.value.fault is Fault.OURS


def test_a_version_that_never_shipped_is_refused():
    with pytest.raises(ProtocolError, match="knows versions 0 to 13, not 99"):
        decode(MetadataRequest, 99, b"")


def test_mutated_bytes_give_a_message_or_a_protocol_error():
    dice = random.Random(7)
    for cls, version in EVERY:
        body = bytearray(encode(make(cls, version, dice), version))
        pick = picker(cls, version, *(field.name for field in cls.fields[::2]))
        for _ in range(10):
            bad = bytearray(body)
            for _ in range(dice.randint(1, 3)):
                if bad:
                    bad[dice.randrange(len(bad))] = dice.choice([0, 1, 127, 128, 255, dice.randrange(256)])
            data = bytes(bad[: dice.randint(0, len(bad))] if dice.random() < 0.5 else bad)
            for read in (partial(decode, cls, version), pick.decode):
                with contextlib.suppress(ProtocolError):
                    read(data)
