"""Topics of requests: the same as decoding would give, without decoding the rest."""

from __future__ import annotations

from typing import Any

import pytest

from proxy.core.commands import ToBroker
from proxy.core.context import Context
from proxy.core.decorators import observe_topics
from proxy.core.filters import Filters
from proxy.core.link import Link
from proxy.core.outcome import By
from proxy.core.request_topics import MOST, RequestTopics, Topics
from proxy.protocol.api import FETCH, PRODUCE
from proxy.protocol.codec import encode
from proxy.protocol.messages.fetch import FetchRequest
from proxy.protocol.messages.heartbeat import HeartbeatRequest
from proxy.protocol.messages.produce import ProduceRequest
from proxy.protocol.schema import Request
from proxy.testing import connection, from_broker
from tests.proxy.core.frames import asking, cut, produce_answer
from tests.proxy.core.test_outcome import Remembering, Watching, play, woken

IDS = [bytes([number]) * 16 for number in (1, 2, 1)]
NAMES = ["orders", "caf\N{LATIN SMALL LETTER E WITH ACUTE}", "orders"]
CLAIMED = 1_000  # bytes of records


def produced(version: int, names: list[str] = NAMES, acks: int = 1) -> ProduceRequest:
    def topic(number: int, name: str) -> ProduceRequest.Topic:
        part = ProduceRequest.Topic.Partition(index=0, records=b"r" * CLAIMED)
        which: dict[str, Any] = {"topic_id": IDS[number]} if version >= 13 else {"name": name}
        return ProduceRequest.Topic(partition_data=[part], **which)

    return ProduceRequest(acks=acks, timeout_ms=1, topic_data=[topic(*each) for each in enumerate(names)])


def fetched(version: int) -> FetchRequest:
    def which(number: int, name: str) -> dict[str, Any]:
        return {"topic_id": IDS[number]} if version >= 13 else {"topic": name}

    parts = [FetchRequest.Topic.Partition(partition=0, fetch_offset=5, partition_max_bytes=9)]
    topics = [FetchRequest.Topic(partitions=parts, **which(*each)) for each in enumerate(NAMES)]
    forgotten = [FetchRequest.ForgottenTopic(partitions=[1], **which(0, "gone"))] if version >= 7 else []
    return FetchRequest(max_wait_ms=1, min_bytes=1, topics=topics, forgotten_topics_data=forgotten)


MESSAGES = [(produced, version) for version in PRODUCE.versions] + [(fetched, version) for version in FETCH.versions]


@pytest.mark.parametrize(("make", "version"), MESSAGES)
def test_what_is_found_is_what_would_be_read(make: type, version: int) -> None:
    request: Request = make(version)
    topics = RequestTopics(type(request), version)
    body = encode(request, version)
    expected = tuple(IDS) if version >= 13 else tuple(NAMES)
    assert topics.find(memoryview(b"head" + body), 4) == topics.of(request) == expected


def test_the_records_of_the_last_topic_need_not_have_come() -> None:
    body = encode(produced(9), 9)
    topics = RequestTopics(ProduceRequest, 9)
    assert topics.find(memoryview(body)[:-CLAIMED], 0) == tuple(NAMES)
    assert topics.find(memoryview(body)[: -2 * CLAIMED], 0) is None


def test_what_is_odd_has_to_be_read() -> None:
    topics = RequestTopics(ProduceRequest, 9)
    many = ProduceRequest(
        acks=1, timeout_ms=1, topic_data=[ProduceRequest.Topic(name="t", partition_data=[])] * (MOST + 1)
    )
    assert topics.find(memoryview(encode(many, 9)), 0) is None
    assert topics.find(memoryview(encode(produced(9), 9).replace(b"orders", b"order\xff")), 0) is None


class Using(Watching):
    def __init__(self) -> None:
        super().__init__()
        self.used: list[Topics] = []

    @observe_topics(ProduceRequest, FetchRequest)
    def use(self, ctx: Context, topics: Topics) -> None:
        self.used.append(topics)


@pytest.mark.parametrize("pieces", [1, 2])
@pytest.mark.parametrize("behind", [False, True])
def test_an_observer_of_topics_is_shown_those_of_each_request_once(pieces: int, behind: bool) -> None:
    using = Using()
    link = Link(connection(), Filters([Remembering(), using] if behind else [using]))
    for number in (1, 2, 3):
        frame = asking(produced(9), number, 9)
        woken(link, play(link, *([frame] if pieces == 1 else cut(frame, 100))))
        from_broker(link, produce_answer(number))
    assert using.used == [tuple(NAMES)] * 3
    assert using.by == [(number, By.BROKER) for number in (1, 2, 3)]
    assert {outcome.request_bytes for _, outcome in using.told} == {len(frame)}


def test_a_request_without_an_answer_is_shown_too() -> None:
    using = Using()
    play(Link(connection(), Filters([using])), asking(produced(9, acks=0), 1, 9))
    assert (using.used, using.by) == ([tuple(NAMES)], [(1, By.NOBODY)])


@pytest.mark.parametrize("at", [60, 500, 1_000])
def test_a_request_without_an_answer_passes_before_it_is_whole(at: int) -> None:
    using = Using()
    link = Link(connection(), Filters([using]))
    frame = asking(produced(9, ["orders"], acks=0), 1, 9)
    first, rest = cut(frame, at)
    assert play(link, first) == [ToBroker(first)]
    assert play(link, rest) == [ToBroker(rest)]
    assert (using.used, using.by) == ([("orders",)], [(1, By.NOBODY)])


def test_only_produce_and_fetch_have_topics_that_are_found_so() -> None:
    with pytest.raises(TypeError, match="HeartbeatRequest is none of ProduceRequest, FetchRequest"):
        observe_topics(HeartbeatRequest)(lambda ctx, topics: None)
