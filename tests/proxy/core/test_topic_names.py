"""Topic names by topic id."""

from __future__ import annotations

from typing import Any

import pytest

from proxy.core.decisions import Ask
from proxy.core.topic_names import AT_ONCE, MOST_ASKED, TopicNames
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.wire import NO_UUID
from tests.plugins.acl.talk import metadata_of, topic_id

KNOWN = {name: topic_id(name) for name in ("a", "b")}


def test_what_is_asked_for_is_learnt_and_what_nobody_knows_is_not() -> None:
    names = TopicNames()
    assert names.unknown([topic_id("a"), topic_id("x"), topic_id("a"), NO_UUID]) == [topic_id("a"), topic_id("x")]
    steps = names.ask([topic_id("a"), topic_id("x")])
    question = next(steps)
    assert isinstance(question, Ask)
    assert isinstance(question.request, MetadataRequest)
    assert (question.version, question.request.allow_auto_topic_creation) == (12, False)
    answer(steps, metadata_of(KNOWN, question.request))
    assert (names.get(topic_id("a")), names.get(topic_id("x"))) == ("a", None)
    assert names.unknown([topic_id("a"), topic_id("x")]) == [topic_id("x")]
    assert (names.of("b"), names.of(topic_id("a")), names.of(topic_id("b"))) == ("b", "a", None)


def test_all_topics_are_learnt_at_once() -> None:
    names = TopicNames()
    steps = names.ask_all()
    question = next(steps)
    assert question.request.topics is None
    assert answer(steps, metadata_of(KNOWN, question.request)) == ["a", "b"]
    assert names.get(topic_id("b")) == "b"


@pytest.mark.parametrize(("length", "learnt"), [(249, True), (250, False), (32_000, False)])
def test_what_is_longer_than_the_longest_name_is_none(length: int, learnt: bool) -> None:
    names, name = TopicNames(), "n" * length
    names.learn(metadata_of({name: topic_id("a")}, MetadataRequest(topics=None)).topics)
    assert (names.get(topic_id("a")) == name) is learnt


def test_many_topics_are_asked_for_in_portions_and_only_so_many_for_one_request() -> None:
    ids = [number.to_bytes(16) for number in range(1, MOST_ASKED + 5)]
    portions, _ = asked(TopicNames().ask(ids), {})
    assert portions == [AT_ONCE] * (MOST_ASKED // AT_ONCE)


def asked(steps: Any, topics: dict[str, bytes]) -> tuple[list[int], Any]:
    """The number of topics in each request, and the result of the responses."""
    portions: list[int] = []
    answer = None
    while True:
        try:
            question = steps.send(answer)
        except StopIteration as end:
            return portions, end.value
        portions.append(len(question.request.topics))
        answer = metadata_of(topics, question.request)


def topic(name: str) -> MetadataResponse.Topic:
    return MetadataResponse.Topic(name=name, topic_id=topic_id(name), error_code=0, partitions=[])


def test_the_oldest_are_forgotten_where_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proxy.core.topic_names.MOST", 5)
    names = TopicNames()
    names.learn([topic(name) for name in ("0", "1", "2", "3", "4", "new")])
    assert (names.get(topic_id("0")), names.get(topic_id("1")), names.get(topic_id("new"))) == (None, "1", "new")


def answer(steps: object, response: MetadataResponse) -> object:
    """The result of the steps with this response."""
    try:
        steps.send(response)  # type: ignore[attr-defined]
    except StopIteration as end:
        return end.value
    raise AssertionError("they wait for more")
