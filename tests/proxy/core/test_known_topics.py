"""Known topics are bounded in number and in length."""

from __future__ import annotations

from proxy.core.known_topics import ENTRY, KnownTopics
from proxy.protocol.wire import LONGEST_TOPIC


def test_a_topic_is_counted_once() -> None:
    topics = KnownTopics(10)
    for _ in range(2):
        topics.add(b"orders")
    assert (len(topics.values), topics.held) == (1, len(b"orders") + ENTRY)


def test_when_there_are_too_many_all_are_forgotten() -> None:
    topics = KnownTopics(3)
    for number in range(4):
        topics.add(f"topic-{number}".encode())
    assert (len(topics.values), topics.held) == (1, len(b"topic-3") + ENTRY)


def test_what_is_too_long_for_a_topic_is_not_kept() -> None:
    topics = KnownTopics(3)
    topics.add(b"x" * LONGEST_TOPIC)
    topics.add(b"x" * (LONGEST_TOPIC + 1))
    assert (len(topics.values), topics.held) == (1, LONGEST_TOPIC + ENTRY)
