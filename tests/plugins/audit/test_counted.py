"""Counted: counts of unread requests equal those of requests that are read, whatever clients and brokers send."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plugins.audit import Audit, counted
from plugins.audit.contents import segment_lines
from plugins.audit.redaction import RedactionRule
from plugins.audit.segments import segments
from proxy.core.commands import Command, ToClient, Wake
from proxy.core.filters import Filters
from proxy.core.link import Link
from proxy.plugin import (
    FETCH,
    PRODUCE,
    Api,
    Context,
    FetchResponse,
    Handler,
    Message,
    MetadataResponse,
    ProduceRequest,
    ProduceResponse,
)
from proxy.testing import build, connection, from_broker, from_client, request_frame, response_frame
from tests.plugins.audit.test_traffic import BATCH, TWO

TOPICS = {number.to_bytes(16): f"topic-{number}" for number in range(1, 4)}
VERSIONS = [(api, version) for api in (PRODUCE, FETCH) for version in api.versions]
LEVELS = {
    "summary": "levels: [{match: {topic: topic-3}, level: none}, {level: summary, window: 1h}]\n",
    "full": "levels: [{match: {topic: topic-3}, level: none}, {level: full}]\n",
    "mixed": "levels: [{match: {topic: topic-3}, level: full}, {level: summary, window: 1h}]\n",
}
EXCHANGES = 60
STAMP = re.compile(rb'{"kind":"(?:request|summary)",.*?"sequence":\d+,')


class Reading(Audit):
    """Counts what it reads."""

    read = 0

    def handlers(self, position: int = 0) -> Iterator[Handler]:
        for handler in super().handlers(position):
            yield replace(handler, call=self.counting_reads(handler.call))

    def counting_reads(self, read: Callable[..., Any]) -> Callable[..., Any]:
        def read_once_more(ctx: Context, message: Message) -> None:
            self.read += 1
            read(ctx, message)

        return read_once_more


class Played:
    """A link with a journal of its own."""

    def __init__(self, folder: Path, levels: str, **options: Any) -> None:
        folder.mkdir()
        (folder / "levels.yaml").write_text(LEVELS[levels])
        self.folder = folder / "journal"
        self.audit = build(Reading, journal=str(self.folder), levels=str(folder / "levels.yaml"), **options)
        self.audit.start()
        named = [
            MetadataResponse.Topic(error_code=0, topic_id=one, name=name, partitions=[]) for one, name in TOPICS.items()
        ]
        self.audit.services.topics.learn(named)
        self.link = Link(connection(), Filters([self.audit]))
        self.link.begin()
        self.passed: list[bytes] = []

    def play(self, request: bytes, answer: bytes | None) -> None:
        """An exchange; the answer comes in two pieces as often as in one."""
        self.go_on(from_client(self.link, bytearray(request)))
        if answer is not None:
            cut = len(answer) // 2 if len(answer) % 2 else len(answer)
            self.go_on(from_broker(self.link, bytearray(answer[:cut])))
            self.go_on(from_broker(self.link, bytearray(answer[cut:])))

    def go_on(self, commands: list[Command]) -> None:
        for command in commands:
            if isinstance(command, ToClient):
                self.passed.append(bytes(command.data))
            elif isinstance(command, Wake):
                self.go_on(self.link.wake(command.token))

    def told(self) -> list[dict[str, Any]]:
        """All events of requests, without what is of this journal alone."""
        return [json.loads(b"{" + line) for line in self.lines()]

    def lines(self) -> list[bytes]:
        """The lines of all events of requests, without what is of this journal alone."""
        self.link.client_closed()
        self.link.release("it is over")
        self.audit.stop()
        lines = (line for path in segments(self.folder) for line in segment_lines(path))
        return [line[stamp.end() :] for line in lines if (stamp := STAMP.match(line))]


def partitions(dice: random.Random) -> list[int]:
    return [dice.randrange(4) for _ in range(dice.choice([1, 1, 1, 2, 3, 0]))]


def asked(api: Api, version: int, dice: random.Random) -> Any:
    """A request as clients send them, or odd in some way."""
    topics = []
    for topic_id in dice.sample(sorted(TOPICS), dice.choice([1, 1, 2, 3] if api is PRODUCE else [0, 1, 1, 2])):
        name = {"topic_id": topic_id, "topic" if api is FETCH else "name": TOPICS[topic_id]}
        cls: Any = api.request
        if api is PRODUCE:
            records = [dice.choice([BATCH, BATCH, BATCH + TWO, None, b"", b"odd", BATCH[:-1]]) for _ in range(4)]
            parts = [cls.Topic.Partition(index=index, records=records[index]) for index in partitions(dice)]
            topics.append(cls.Topic(partition_data=parts, **name))
        else:
            parts = [
                cls.Topic.Partition(partition=index, fetch_offset=7, partition_max_bytes=9)
                for index in partitions(dice)
            ]
            topics.append(cls.Topic(partitions=parts, **name))
    if api is FETCH:
        return api.request(max_wait_ms=1, min_bytes=1, topics=topics)
    transaction = dice.choice([None] * 9 + ["t"])
    return api.request(transactional_id=transaction, acks=dice.choice([-1] * 9 + [0]), timeout_ms=1, topic_data=topics)


def answered(request: Any, version: int, dice: random.Random) -> Message:
    """An answer to it; sometimes with errors, of partitions that it does not name, without some that it does."""
    topics = []
    is_fetch = request.api is FETCH
    for topic in request.topics if is_fetch else request.topic_data:
        parts = []
        for one in topic.partitions if is_fetch else topic.partition_data:
            error = dice.choice([0] * 20 + [6])
            if dice.random() < 0.1:
                continue
            if is_fetch:
                records = dice.choice([BATCH, BATCH + TWO, BATCH + TWO[:40], BATCH[:30], b"", None, b"o" * 80])
                index = dice.choice([one.partition] * 9 + [3])
                parts.append(
                    FetchResponse.Topic.Partition(
                        partition_index=index,
                        error_code=error,
                        high_watermark=50,
                        aborted_transactions=[],
                        records=records,
                    )
                )
            else:
                parts.append(
                    ProduceResponse.Topic.Partition(
                        index=one.index, error_code=error, base_offset=dice.choice([-1, 40, 50])
                    )
                )
        if is_fetch:
            topics.append(FetchResponse.Topic(topic=topic.topic, topic_id=topic.topic_id, partitions=parts))
        else:
            topics.append(ProduceResponse.Topic(name=topic.name, topic_id=topic.topic_id, partition_responses=parts))
    if is_fetch:
        return FetchResponse(responses=topics, error_code=dice.choice([0] * 20 + [70]) if version >= 7 else 0)
    return ProduceResponse(responses=topics)


def exchanges(api: Api, version: int, dice: random.Random) -> Iterator[tuple[bytes, bytes | None]]:
    for number in range(EXCHANGES):
        request = asked(api, version, dice)
        answer = None
        if api is FETCH or request.acks:
            answer = response_frame(answered(request, version, dice), version, number)
        yield request_frame(request, version, number, "app"), answer


@pytest.mark.parametrize("levels", LEVELS)
def test_the_journal_says_the_same_whether_requests_are_counted_or_read(
    levels: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []
    for number, (api, version) in enumerate(VERSIONS):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        swift = Played(folder / "counted", levels)
        with monkeypatch.context() as patched:
            patched.setattr(counted, "TRAFFIC_APIS", ())  # as where nothing is compiled
            slow = Played(folder / "read", levels)
        for request, answer in exchanges(api, version, random.Random(number)):
            for played in (swift, slow):
                played.play(request, answer)
        assert swift.passed == slow.passed
        read.append((swift.audit.read, slow.audit.read))
        assert swift.lines() == slow.lines(), (api.name, version)
    swiftly, slowly = map(sum, zip(*read, strict=True))
    is_compiled = swift.audit.counting(PRODUCE, 9) is not None
    assert 0.3 < swiftly / slowly < 0.95 or not is_compiled, "some requests are odd, many are not"


def test_names_are_redacted_also_where_nobody_read_the_request(tmp_path: Path) -> None:
    topics = RedactionRule.model_validate({"fields": "topic", "how": "leave_out"})
    played = Played(tmp_path / "redacted", "full", redact=(topics,))
    for number in range(3):
        records = ProduceRequest.Topic.Partition(index=0, records=BATCH)
        request = ProduceRequest(
            acks=1, timeout_ms=1, topic_data=[ProduceRequest.Topic(name="topic-1", partition_data=[records])]
        )
        answer = ProduceResponse(responses=[])
        played.play(request_frame(request, 9, number, "app"), response_frame(answer, 9, number))
    told = played.told()
    assert [(one["correlation_id"], one["redacted"]) for one in told] == [(n, ["topic"]) for n in range(3)]
    assert "topic-1" not in json.dumps(told)


def test_who_becomes_somebody_else_is_told_as_who_it_is(tmp_path: Path) -> None:
    for levels in ("summary", "full"):
        played = Played(tmp_path / levels, levels)
        for number, client in enumerate(("app", "app", "app", "other", "other", "app")):
            records = ProduceRequest.Topic.Partition(index=0, records=BATCH)
            topic = ProduceRequest.Topic(name="topic-1", partition_data=[records])
            request = ProduceRequest(acks=1, timeout_ms=1, topic_data=[topic])
            played.play(
                request_frame(request, 9, number, client), response_frame(ProduceResponse(responses=[]), 9, number)
            )
        counted: dict[str, int] = {}
        for one in played.told():
            counted[one["client_id"]] = counted.get(one["client_id"], 0) + one.get("requests", 1)
        assert counted == {"app": 4, "other": 2}
