"""The sink: events on disk go to the topic, in order; events that it refuses are counted and reported."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import inf

import pytest

from plugins.audit import sink as sink_module
from plugins.audit.lines import EventLines
from plugins.audit.queue import QueuedEvent
from plugins.audit.sink import ROOM, TopicSink
from proxy.plugin import Record, TopicError
from proxy.testing import FakeClock, FakeTopic, FakeWorker
from tests.plugins.audit.written import START, event

DOWN = TopicError("topic audit of cluster main: kafka-1:9092: connection refused")


class There:
    """A sink, its topic, and the lines of a chain."""

    def __init__(self, room: int = ROOM, topic: FakeTopic | None = None) -> None:
        self.topic, self.worker, self.clock = topic or FakeTopic(), FakeWorker(), FakeClock(since_1970=START)
        self._lines = EventLines("3f9c2a71", 0)
        unsent = self.worker.counter("unsent_events", "")
        self.sink = TopicSink(self.topic, b"3f9c2a71/0", "/doorkeeper/main", self.worker.tell, unsent, self.clock, room)

    def offer(self, many: int, size: int = 0) -> list[bytes]:
        lines = [self._lines.line(event(number)._replace(fields={"why": "x" * size})) for number in range(many)]
        self.sink.offer(lines)
        return lines

    def sequences(self) -> list[int]:
        return [json.loads(bytes(record.value or b""))["data"]["sequence"] for record in self.topic.records]

    def unsent(self, now: float = START) -> list[QueuedEvent]:
        return list(self.sink.unsent(now))

    @property
    def told(self) -> list[str]:
        return [line for line, _ in self.worker.lines]


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sink_module, "AGAIN", 0.0)


def test_every_line_is_sent_once_in_order() -> None:
    there = There()
    there.offer(2000, 300)
    there.sink.work()
    there.offer(3)
    there.sink.work()
    assert there.sequences() == list(range(1, 2004))
    assert not there.unsent(inf)
    assert not there.worker.lines
    assert not there.worker.counts


def test_while_the_topic_refuses_lines_wait_and_one_line_of_the_log_says_so() -> None:
    there = There()
    there.topic.refusal = DOWN
    for _ in range(5):
        there.offer(10)
        there.sink.work()
    assert there.worker.lines == [("audit topic cannot be written", {"why": str(DOWN)})]
    there.topic.refusal = TopicError("topic audit of cluster main: TOPIC_AUTHORIZATION_FAILED")
    there.sink.work()
    there.topic.refusal = None
    there.sink.work()
    assert there.told == ["audit topic cannot be written"] * 2 + ["audit topic is written again"]
    assert there.sequences() == list(range(1, 51))
    assert not there.unsent(inf)


def test_a_topic_that_refused_is_not_tried_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sink_module, "AGAIN", 3600.0)
    there = There()
    there.topic.refusal = DOWN
    there.offer(1)
    there.sink.work()
    there.topic.refusal = None
    there.sink.work()
    assert there.sequences() == []
    there.clock.now += 3600.0
    there.sink.work()
    assert there.sequences() == [1]


def test_what_finds_no_room_is_counted_and_told_when_the_topic_is_written_again() -> None:
    there = There(room=2000)
    there.topic.refusal = DOWN
    there.sink.work()
    there.offer(100)
    there.sink.work()
    lost = there.worker.counts["unsent_events"]
    assert 80 < lost < 100
    assert not there.unsent()  # not while it is likely to get worse
    there.topic.refusal = None
    there.offer(1)
    there.sink.work()
    assert there.sequences() == [*range(1, 101 - lost), 101]
    (told,) = there.unsent()
    at = "2026-03-01T08:00:00.000000Z"
    assert (told.kind, told.fields) == ("events_unsent", {"lost": lost, "lost_from": at, "lost_to": at})
    assert not there.unsent(inf)


class Breaking(FakeTopic):
    """Refuses whatever would be more than these; nothing while it is None."""

    most: int | None = 5

    def write(self, records: Sequence[Record], seconds: float) -> None:
        if self.most is not None and len(records) == 1 and len(self.records) == self.most:
            raise DOWN
        super().write(records, seconds)


def test_what_was_sent_of_a_batch_that_breaks_off_is_not_sent_again() -> None:
    topic = Breaking()
    there = There(topic=topic)
    topic.largest = len(there.offer(8, 1000)[0]) + 500  # one at a time
    there.sink.work()
    assert there.sequences() == [1, 2, 3, 4, 5]
    topic.most = None
    there.sink.work()
    assert there.sequences() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert not there.worker.counts


def test_a_long_refusal_is_told_meanwhile_and_at_the_end() -> None:
    there = There(room=1)
    there.topic.refusal = DOWN
    there.offer(1)
    there.sink.work()
    there.offer(10)
    assert not there.unsent(START + sink_module.SAID_EVERY - 1)
    assert [told.fields["lost"] for told in there.unsent(START + sink_module.SAID_EVERY)] == [9]
    there.offer(1)
    assert [told.fields["lost"] for told in there.unsent(inf)] == [1]


def test_an_event_that_is_too_long_is_left_out_and_the_others_are_sent() -> None:
    there = There()
    there.topic.largest = 5000
    there.offer(20, 400)
    there.offer(1, 9000)
    there.offer(5)
    there.sink.work()
    assert there.sequences() == [*range(1, 21), *range(22, 27)]
    assert there.told == ["audit event too long for the topic"]
    assert [told.fields["lost"] for told in there.unsent()] == [1]


def test_an_event_that_the_topic_refuses_is_left_out_and_the_others_are_sent() -> None:
    there = There()
    there.topic.invalid = b'"sequence":7,'
    there.offer(20)
    there.sink.work()
    assert there.sequences() == [*range(1, 7), *range(8, 21)]
    ((told, facts),) = there.worker.lines
    assert (told, facts["why"]) == ("audit event refused by the topic", "INVALID_RECORD")
    assert there.worker.counts["unsent_events"] == 1
    assert [told.fields["lost"] for told in there.unsent()] == [1]


def test_what_is_left_at_the_end_is_sent_or_counted_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sink_module, "AGAIN", 3600.0)
    there = There()
    there.topic.refusal = DOWN
    there.offer(7)
    there.sink.work()
    there.sink.close()
    assert there.worker.lines[-1] == ("audit events not sent at the end", {"events": 7, "why": str(DOWN)})
    assert there.worker.counts["unsent_events"] == 7
    other = There()
    other.offer(7)
    other.sink.close()
    assert other.sequences() == list(range(1, 8))
    assert not other.worker.lines
