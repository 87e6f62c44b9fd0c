"""Requests that no fault matches pass unread, and only if they would also pass when they are read."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plugins.acl import Acl
from plugins.faults import Faults
from plugins.faults.ledger import Result
from proxy.core.commands import ToBroker
from proxy.core.events import Authenticated
from proxy.core.wish import Handler
from proxy.protocol.api import FETCH, METADATA, PRODUCE, Api
from proxy.protocol.errors import ErrorCode
from proxy.protocol.header import request_frame
from proxy.protocol.messages.fetch import FetchRequest
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.messages.produce import ProduceRequest
from proxy.testing import FakeWorker, build, from_client
from tests.plugins.acl.talk import topic_id
from tests.plugins.faults.talking import FaultFile, FaultTalk, errors, fetch, produce, serving

ERROR = "do: {error: NOT_LEADER_OR_FOLLOWER}"


class Reading(Faults):
    """Faults that read every request."""

    def handlers(self, position: int = 0) -> Iterable[Handler]:
        for handler in super().handlers(position):
            yield replace(handler, fast_path=None, unneeded_after=None)


class ReadingAcl(Acl):
    """ACLs that have every request read."""

    def handlers(self, position: int = 0) -> Iterable[Handler]:
        for handler in super().handlers(position):
            yield replace(handler, fast_path=None, unneeded_after=None)


def acl_of(folder: Path, plugin: type[Acl] = Acl) -> Acl:
    """Rules that allow most of what is asked below."""
    file = folder / "acl.yaml"
    file.write_text("acls: [{allow: User:alice, to: [Read, Write, Describe], topics: ['orders*', payments]}]")
    return build(plugin, FakeWorker(), rules=str(file))


def by_id(request: Any, version: int) -> Any:
    """The same request, by ids of topics in versions that have these."""
    if isinstance(request, ProduceRequest | FetchRequest) and version >= 13:
        for topic in request.topic_data if isinstance(request, ProduceRequest) else request.topics:
            topic.topic_id = topic_id(topic.name if isinstance(request, ProduceRequest) else topic.topic)
    return request


def passes_unread(talk: FaultTalk, request: Any, version: int, client_id: str = "app") -> bool:
    """Whether a frame passes whatever its last byte is: one that is read must end as it should."""
    frame = bytearray(request_frame(by_id(request, version), version, 1, client_id))[:-1]
    frame[:4] = (len(frame) - 4).to_bytes(4)
    commands = from_client(talk.link, memoryview(frame))
    return b"".join(it.data for it in commands if isinstance(it, ToBroker)) == frame


def is_known(talk: FaultTalk, request: Any, version: int) -> bool:
    """Whether a request passes because it is like an earlier one."""
    from_client(talk.link, memoryview(bytearray(request_frame(by_id(request, version), version, 1, "app"))))
    ctx = talk.link.inflight.slots[-1][2]
    talk.link.inflight.slots.clear()  # as if it was answered
    return ctx is not None and ctx.sample


@pytest.mark.parametrize(
    "fault",
    [
        "match: {client_id: other}",
        "match: {principal: User:bob}",
        "match: {listener: other}",
        "match: {broker: 2}",
        "match: {version: 0}",
        "match: {topic: payments}",
        "match: {topic: 'payments*', partition: 0, principal: User:alice}",
        "match: {group: g}",
    ],
)
@pytest.mark.parametrize(
    ("request_of", "version"), [(produce, 8), (produce, 9), (produce, 13), (fetch, 4), (fetch, 12), (fetch, 13)]
)
def test_a_request_like_one_that_no_fault_was_about_passes_unread(
    tmp_path: Path, fault: str, request_of: Any, version: int
) -> None:
    talk = FaultTalk(FaultFile(tmp_path, f"faults: [{{{fault}, {ERROR}}}]"), serving)
    talk.ask(by_id(request_of("orders"), version), version)
    assert passes_unread(talk, request_of("orders", partitions=2), version)
    assert talk.closed is None


@pytest.mark.parametrize("fault", ["client_id: other", "topic: payments"])
@pytest.mark.parametrize("version", [12, 13])
def test_a_fetch_in_a_session_passes_unread_until_it_names_what_a_fault_is_about(
    tmp_path: Path, fault: str, version: int
) -> None:
    talk = FaultTalk(FaultFile(tmp_path, f"faults: [{{match: {{api: Fetch, {fault}}}, {ERROR}}}]"), serving)
    talk.ask(by_id(fetch("orders", session_epoch=0), version), version)
    talk.ask(fetch(session_id=7, session_epoch=1), version)
    talk.ask(fetch(session_id=7, session_epoch=2), version)
    assert is_known(talk, fetch(session_id=7, session_epoch=3), version)
    asked = talk.ask(by_id(fetch("payments", session_id=7, session_epoch=4), version), version)
    assert asked.error_code == (0 if fault == "client_id: other" else ErrorCode.FETCH_SESSION_ID_NOT_FOUND)


@pytest.mark.parametrize("fault", ["client_id: other", "topic: payments"])
@pytest.mark.parametrize(("request_of", "version"), [(produce, 9), (produce, 13), (fetch, 12), (fetch, 13)])
def test_beside_acl_a_request_passes_unread_that_both_know(
    tmp_path: Path, fault: str, request_of: Any, version: int
) -> None:
    talk = FaultTalk(FaultFile(tmp_path, f"faults: [{{match: {{{fault}}}, {ERROR}}}]"), serving, 1, acl_of(tmp_path))
    talk.ask(by_id(request_of("orders"), version), version)
    assert is_known(talk, request_of("orders", partitions=2), version)


def test_beside_acl_what_only_one_of_them_knows_is_read(tmp_path: Path) -> None:
    talk = FaultTalk(
        FaultFile(tmp_path, f"faults: [{{match: {{topic: payments}}, {ERROR}}}]"), serving, 1, acl_of(tmp_path)
    )
    talk.ask(produce("orders"), 9)
    assert [errors(talk.ask(produce(topic), 9)) for topic in ("payments", "others")] == [
        {("payments", 0): "NOT_LEADER_OR_FOLLOWER"},
        {("others", 0): "TOPIC_AUTHORIZATION_FAILED"},
    ]


def test_of_several_topics_all_are_looked_at(tmp_path: Path) -> None:
    talk = FaultTalk(FaultFile(tmp_path, f"faults: [{{match: {{topic: payments}}, {ERROR}}}]"), serving)
    talk.ask(produce("orders", "others"), 9)
    assert passes_unread(talk, produce("others", "orders", "others"), 9)
    assert not passes_unread(talk, produce("others", "more"), 9)


@pytest.mark.parametrize(
    "fault", [f"match: {{topic: orders, partition: 7}}, {ERROR}", f"match: {{partition: 7}}, {ERROR}"]
)
def test_what_the_topics_do_not_tell_is_read(tmp_path: Path, fault: str) -> None:
    talk = FaultTalk(FaultFile(tmp_path, f"faults: [{{{fault}}}]"), serving)
    talk.ask(produce("orders"), 9)
    assert not passes_unread(talk, produce("orders"), 9)


def test_other_faults_are_in_force_with_the_next_request(tmp_path: Path) -> None:
    faults = FaultFile(tmp_path, f"faults: [{{match: {{topic: payments}}, {ERROR}}}]")
    talk = FaultTalk(faults, serving)
    for _ in range(3):
        talk.ask(produce("orders"), 9)
    faults.become(f"faults: [{{match: {{topic: orders}}, {ERROR}}}]")
    assert talk.ask(produce("orders"), 9).responses[0].partition_responses[0].error_code == 6
    faults.become(f"faults: [{{match: {{topic: payments}}, {ERROR}}}]")
    assert talk.ask(produce("orders"), 9).responses[0].partition_responses[0].error_code == 0


def test_a_client_that_comes_as_another_is_looked_at_again(tmp_path: Path) -> None:
    text = f"faults: [{{match: {{client_id: b}}, {ERROR}}}, {{match: {{principal: User:bob}}, {ERROR}}}]"
    talk = FaultTalk(FaultFile(tmp_path, text), serving)
    talk.ask(produce("orders"), 9)
    assert passes_unread(talk, produce("orders"), 9)
    assert not passes_unread(talk, produce("orders"), 9, client_id="b")
    talk = FaultTalk(FaultFile(tmp_path, text), serving)
    talk.ask(produce("orders"), 9)
    talk.connection.principal = "User:bob"
    talk.connection.gate.tell(Authenticated("PLAIN", "User:bob"))
    assert not passes_unread(talk, produce("orders"), 9)


def test_a_request_without_an_answer_is_none_that_passed_before(tmp_path: Path) -> None:
    talk = FaultTalk(FaultFile(tmp_path, f"faults: [{{match: {{topic: payments}}, {ERROR}}}]"), serving)
    talk.ask(produce("orders"), 9)
    assert talk.ask(produce("orders", acks=0), 9) is None
    assert talk.ask(produce("orders"), 9) is not None


def test_what_the_answer_alone_shows_is_read_there(tmp_path: Path) -> None:
    text = "faults: [{match: {api: Metadata, topic: orders}, do: {leader: none}}]"
    faults = FaultFile(tmp_path, text)
    talk = FaultTalk(faults, serving)
    for _ in range(2):
        talk.ask(MetadataRequest(topics=None), 9)
    assert len(faults.plugin.ledger.of("fault 1")) == 2


NAMES = ("orders", "orders-2", "payments", "others")
MATCHES = (
    "topic: orders",
    "topic: orders*",
    "topic: orders, partition: 1",
    "client_id: app-2",
    "principal: User:bob",
    "topic: payments, client_id: app",
    "version: 9, topic: others",
    "partition: 1",
)


def some_file(dice: random.Random) -> str:
    """A few faults on what the requests below may be about."""
    dos = ("error: NOT_LEADER_OR_FOLLOWER", "delay: 1ms", "error: {code: NOT_LEADER_OR_FOLLOWER, side: after_broker}")
    faults = (
        f"{{match: {{{dice.choice(MATCHES)}}}, when: {{times: {dice.randint(1, 9)}}}, do: {{{dice.choice(dos)}}}}}"
        for _ in range(dice.randint(1, 3))
    )
    return "faults:\n" + "".join(f"  - {fault}\n" for fault in faults)


def some_request(dice: random.Random) -> tuple[Any, Api, int]:
    """A request about a few topics."""
    topics = dice.choices(NAMES, k=dice.choice((1, 1, 1, 2, 3)))
    api, version = dice.choice(((PRODUCE, 8), (PRODUCE, 9), (FETCH, 12), (FETCH, 13), (METADATA, 9)))
    if api is METADATA:
        return MetadataRequest(topics=None), api, version
    request: Any = (produce if api is PRODUCE else fetch)(*dict.fromkeys(topics), partitions=dice.randint(1, 2))
    if isinstance(request, FetchRequest) and dice.random() < 0.7:
        request.session_id, request.session_epoch = dice.choice(((0, 0), (7, 1), (7, 2), (7, 3), (8, 1), (8, 2)))
        request.topics = request.topics if dice.random() < 0.5 else []
    return by_id(request, version), api, version


@pytest.mark.parametrize("beside_acl", [False, True])
@pytest.mark.parametrize("seed", [*range(15), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(15, 60))])
def test_nothing_else_comes_of_requests_that_are_not_read(tmp_path: Path, seed: int, beside_acl: bool) -> None:
    dice = random.Random(seed)
    text = some_file(dice)
    (tmp_path / "read").mkdir()
    files = FaultFile(tmp_path, text), FaultFile(tmp_path / "read", text, Reading)
    acls = [acl_of(tmp_path), acl_of(tmp_path, ReadingAcl)] if beside_acl else []
    talks = [FaultTalk(file, serving, 1, *acls[index : index + 1]) for index, file in enumerate(files)]
    for number in range(60):
        if dice.random() < 0.05:
            text = some_file(dice)
            for file in files:
                file.become(f"{text}# {number}\n")
        request, api, version = some_request(dice)
        frame = request_frame(request, version, number, dice.choice(("app", "app", "app", "app-2")))
        for talk in talks:
            talk.send(frame, api, version)
    passing, reading = talks
    assert passing.to_broker == reading.to_broker
    assert passing.got == reading.got
    assert passing.slept == reading.slept
    done = [[str(entry) for entry in file.plugin.ledger if entry.result is not Result.NEAR_MISS] for file in files]
    assert done[0] == done[1]
    near = [{str(entry) for entry in file.plugin.ledger if entry.result is Result.NEAR_MISS} for file in files]
    assert near[0] == near[1]


@pytest.mark.parametrize("within", [1, 2, 4])
def test_a_session_of_before_the_hours_of_a_fault_does_not_pass_unread_in_them(tmp_path: Path, within: int) -> None:
    text = f"""
        faults:
          - {{match: {{api: Fetch, topic: others}}, {ERROR}}}
          - {{match: {{api: Fetch, topic: orders, during: {{hours: "23:00-23:59", zone: UTC}}}}, {ERROR}}}
    """
    faults = FaultFile(tmp_path, text)
    talk = FaultTalk(faults, serving)
    assert talk.ask(fetch("orders", session_epoch=0), 12).error_code == ErrorCode.NONE
    for epoch in range(1, within + 1):
        assert talk.ask(fetch(session_id=7, session_epoch=epoch), 12).error_code == ErrorCode.NONE
    faults.clock.since_1970 += 3600
    over = talk.ask(fetch(session_id=7, session_epoch=within + 1), 12)
    assert over.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


@pytest.mark.parametrize("order", [1, -1])
def test_a_fault_about_all_fetches_fires_in_a_session_that_another_looks_at(tmp_path: Path, order: int) -> None:
    both = ["{match: {api: Fetch}, do: {delay: 1s}}", f"{{match: {{topic: payments}}, {ERROR}}}"]
    talk = FaultTalk(FaultFile(tmp_path, f"faults: [{', '.join(both[::order])}]"), serving)
    talk.ask(fetch("orders", session_epoch=0), 12)
    for epoch in range(1, 6):
        talk.ask(fetch(session_id=7, session_epoch=epoch), 12)
    assert talk.slept == [1.0] * 6
