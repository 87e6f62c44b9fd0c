"""The messages that consumers exchange through brokers."""

from __future__ import annotations

import pytest
from kafka.protocol.consumer.metadata import ConsumerProtocolSubscription

from proxy.protocol.consumer_protocol import ConsumerAssignment, ConsumerSubscription, read_embedded, write_embedded
from proxy.protocol.problem import ProtocolError

# As ConsumerProtocolSubscription.json lays it out: topics a and b, no user data; from v1 on partition 3 of a, from v2
# on generation 5, in v3 rack "r".
TOPICS = "00000002 0001 61 0001 62 ffffffff"
OWNED = "00000001 0001 61 00000001 00000003"
SUBSCRIPTIONS = {
    0: f"0000 {TOPICS}",
    1: f"0001 {TOPICS} {OWNED}",
    2: f"0002 {TOPICS} {OWNED} 00000005",
    3: f"0003 {TOPICS} {OWNED} 00000005 0001 72",
}


@pytest.mark.parametrize("version", SUBSCRIPTIONS)
def test_a_subscription_is_read_and_written_as_it_was(version: int) -> None:
    data = bytes.fromhex(SUBSCRIPTIONS[version])
    subscription, said, rest = read_embedded(ConsumerSubscription, data)
    assert (subscription.topics, subscription.user_data, said, rest) == (["a", "b"], None, version, b"")
    assert [(one.topic, one.partitions) for one in subscription.owned_partitions] == ([("a", [3])] if version else [])
    assert subscription.generation_id == (5 if version > 1 else -1)
    assert subscription.rack_id == ("r" if version > 2 else None)
    assert write_embedded(subscription, said, rest) == data


def test_what_we_write_kafka_python_reads() -> None:
    for version, text in SUBSCRIPTIONS.items():
        read = ConsumerProtocolSubscription.decode(bytes.fromhex(text))
        assert read.topics == ["a", "b"]
        assert [(one.topic, one.partitions) for one in read.owned_partitions or ()] == ([("a", [3])] if version else [])


def test_what_a_newer_version_has_besides_is_kept() -> None:
    data = bytes.fromhex(SUBSCRIPTIONS[3].replace("0003", "0009", 1)) + b"new"
    subscription, version, rest = read_embedded(ConsumerSubscription, data)
    assert (subscription.topics, version, rest) == (["a", "b"], 9, b"new")
    assert write_embedded(subscription, version, rest) == data


def test_an_assignment_is_read_and_written_as_it_was() -> None:
    data = bytes.fromhex("0001 00000001 0001 61 00000002 00000000 00000001 00000002 abcd")
    assignment, version, rest = read_embedded(ConsumerAssignment, data)
    assert [(one.topic, one.partitions) for one in assignment.assigned_partitions] == [("a", [0, 1])]
    assert assignment.user_data == b"\xab\xcd"
    assert write_embedded(assignment, version, rest) == data


@pytest.mark.parametrize("data", ["", "00", "ffff", "0000", "0000 00000002 0001 61", "0000 7fffffff", "0001 " + TOPICS])
def test_what_is_none_is_an_error(data: str) -> None:
    with pytest.raises(ProtocolError):
        read_embedded(ConsumerSubscription, bytes.fromhex(data))
