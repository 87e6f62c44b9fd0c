"""The plugin: conversations, and what the journal says of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plugins.acl import Acl
from plugins.audit import LONGEST_NAME, Audit
from plugins.audit.contents import segment_lines
from plugins.audit.segments import LARGEST, segments
from plugins.audit.verify import verify
from proxy.core.clock import Clock
from proxy.core.filters import Filters
from proxy.core.limits import Limits
from proxy.core.link import Link
from proxy.plugin import (
    HEARTBEAT,
    Authenticated,
    Context,
    Decision,
    Denied,
    Disconnect,
    ErrorCode,
    FetchRequest,
    FetchResponse,
    HeartbeatRequest,
    MetadataRequest,
    MetadataResponse,
    Plugin,
    PluginError,
    ProduceRequest,
    ProduceResponse,
    Record,
    Refused,
    Reply,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    on_request,
    refuse,
    write_batch,
)
from proxy.testing import (
    Command,
    FakeWorker,
    PauseClient,
    ToBroker,
    Wake,
    build,
    connection,
    from_broker,
    from_client,
    request_frame,
    response_frame,
)
from tests.plugins.audit.declared import undeclared

TOPIC_ID = bytes(range(16))
RECORDS = write_batch([Record(b"k%d" % n, b"a secret payload") for n in range(3)])
STAMP = ("kind", "schema", "time", "instance", "worker", "sequence")
PARTY = ("connection", "cluster", "listener", "client_host", "client_port", "client_id")

Written = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def audit(tmp_path: Path) -> Audit:
    plugin = build(Audit, journal=str(tmp_path / "journal"))
    plugin.start()
    return plugin


@pytest.fixture
def written(tmp_path: Path, audit: Audit) -> Written:
    """Ends the journal and gives its events, all of which are as the schema declares."""

    def read() -> list[dict[str, Any]]:
        audit.stop()
        events = [json.loads(line) for path in segments(tmp_path / "journal") for line in segment_lines(path)]
        assert not [problem for event in events for problem in undeclared(event)]
        assert verify(tmp_path / "journal").is_intact
        assert b"secret" not in b"".join(
            line for path in segments(tmp_path / "journal") for line in segment_lines(path)
        )
        return events

    return read


class Conversation:
    """A link with these plugins, and a clock that the test sets."""

    def __init__(self, *plugins: Plugin) -> None:
        self.clock = Clock()
        self.link = Link(connection(), Filters(plugins), clock=self.clock)
        self.link.begin()

    def ask(self, request: Any, number: int, version: int) -> list[Command]:
        return list(from_client(self.link, request_frame(request, version, number, "app")))

    def answer(self, response: Any, number: int, version: int) -> list[Command]:
        return list(from_broker(self.link, response_frame(response, version, number)))


def requests(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the events of requests say beyond who and where."""
    left_out = (*STAMP, *PARTY, "broker_us", "proxy_us", "request_bytes", "response_bytes")
    return [
        {name: value for name, value in event.items() if name not in left_out}
        for event in events
        if event["kind"] == "request"
    ]


def produce(partitions: dict[int, bytes], acks: int = -1) -> ProduceRequest:
    data = [ProduceRequest.Topic.Partition(index=index, records=records) for index, records in partitions.items()]
    return ProduceRequest(
        acks=acks, timeout_ms=9, topic_data=[ProduceRequest.Topic(name="orders", partition_data=data)]
    )


def produced(partitions: dict[int, tuple[int, int]]) -> ProduceResponse:
    each = [
        ProduceResponse.Topic.Partition(index=index, error_code=error, base_offset=base)
        for index, (error, base) in partitions.items()
    ]
    return ProduceResponse(responses=[ProduceResponse.Topic(name="orders", partition_responses=each)])


def test_a_produce_request_says_what_was_written_and_where(audit: Audit, written: Written) -> None:
    talk = Conversation(audit)
    talk.ask(produce({0: RECORDS, 1: RECORDS}), 7, 9)
    talk.answer(produced({0: (0, 100), 1: (6, -1)}), 7, 9)
    (event,) = requests(written())
    assert event == {
        "api": "Produce",
        "api_version": 9,
        "correlation_id": 7,
        "answered_by": "broker",
        "outcome": "answered",
        "errors": ["NOT_LEADER_OR_FOLLOWER"],
        "resources": [
            {
                "type": "topic",
                "name": "orders",
                "partition": 0,
                "records": 3,
                "bytes": len(RECORDS),
                "first_offset": 100,
                "last_offset": 102,
            },
            {
                "type": "topic",
                "name": "orders",
                "partition": 1,
                "records": 3,
                "bytes": len(RECORDS),
                "error": "NOT_LEADER_OR_FOLLOWER",
            },
        ],
    }


def test_what_has_no_answer_says_why(audit: Audit, written: Written) -> None:
    talk = Conversation(audit)
    talk.ask(produce({0: RECORDS}, acks=0), 1, 9)
    talk.ask(produce({0: RECORDS}), 2, 9)
    talk.link.broker_closed()
    talk.link.release("the broker closed the connection with requests in flight")
    events = written()
    told = [
        (event["correlation_id"], event["answered_by"], event["outcome"], event["why"]) for event in requests(events)
    ]
    assert told == [
        (1, "nobody", "unknown", "acks 0 has no answer"),
        (2, "nobody", "none", "the broker closed the connection with requests in flight"),
    ]
    assert [event["kind"] for event in events[1:]] == [
        "connection_opened",
        "request",
        "request",
        "connection_closed",
        "journal_closed",
    ]


def test_a_fetch_says_what_was_read_by_the_names_that_metadata_told(audit: Audit, written: Written) -> None:
    """Also of partitions of its session, which the request does not name."""
    talk = Conversation(audit)
    talk.ask(MetadataRequest(topics=None), 1, 12)
    topic = MetadataResponse.Topic(error_code=0, name="orders", topic_id=TOPIC_ID, partitions=[])
    talk.answer(MetadataResponse(brokers=[], topics=[topic]), 1, 12)
    talk.ask(FetchRequest(max_wait_ms=1, min_bytes=1, topics=[], session_id=5, session_epoch=2), 2, 13)
    batches = write_batch([Record(None, b"v") for _ in range(4)], base_offset=40)
    partitions = [
        FetchResponse.Topic.Partition(
            partition_index=3, error_code=0, high_watermark=44, records=batches + batches[:30]
        ),
        FetchResponse.Topic.Partition(partition_index=4, error_code=0, high_watermark=9, records=None),
    ]
    fetched = FetchResponse.Topic(topic_id=TOPIC_ID, partitions=partitions)
    talk.answer(FetchResponse(responses=[fetched], session_id=5), 2, 13)
    metadata, fetch = requests(written())
    assert (metadata["resources"], metadata["errors"]) == ([], [])
    assert fetch["resources"] == [
        {
            "type": "topic",
            "name": "orders",
            "id": "AAECAwQFBgcICQoLDA0ODw",
            "partition": 3,
            "records": 4,
            "bytes": len(batches) + 30,
            "first_offset": 40,
            "last_offset": 43,
        }
    ]


def test_a_topic_that_is_not_known_is_asked_for_before_its_request(audit: Audit, written: Written) -> None:
    talk = Conversation(audit)
    talk.link.connection.broker_versions = {3: (0, 13)}
    topic = FetchRequest.Topic(topic_id=TOPIC_ID, partitions=[])
    fetch = FetchRequest(max_wait_ms=1, min_bytes=1, topics=[topic])
    commands = [type(command) for command in talk.ask(fetch, 1, 13)]
    assert commands == [PauseClient, ToBroker]  # a question of ours
    named = MetadataResponse.Topic(error_code=0, name="orders", topic_id=TOPIC_ID, partitions=[])
    commands = [type(command) for command in talk.answer(MetadataResponse(brokers=[], topics=[named]), 0, 12)]
    assert ToBroker in commands
    talk.answer(FetchResponse(responses=[]), 1, 13)
    (event,) = requests(written())
    assert event["resources"] == [{"type": "topic", "name": "orders", "id": "AAECAwQFBgcICQoLDA0ODw"}]


class Refusing(Plugin):
    """Answers Heartbeats itself, and ends at others."""

    @on_request(HeartbeatRequest)
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Decision:
        if request.group_id == "bad":
            return Disconnect("enough")
        answer = refuse(ctx.api, ctx.version, request, ErrorCode["GROUP_AUTHORIZATION_FAILED"])
        assert answer is not None
        return Reply(answer)


@pytest.mark.parametrize("first", [True, False])
def test_what_a_plugin_did_is_told_wherever_it_stands(audit: Audit, written: Written, first: bool) -> None:
    talk = Conversation(*((audit, Refusing()) if first else (Refusing(), audit)))
    talk.ask(HeartbeatRequest(group_id="g", generation_id=1, member_id="m"), 1, 4)
    talk.ask(HeartbeatRequest(group_id="bad", generation_id=1, member_id="m"), 2, 4)
    refused, ended = requests(written())
    assert refused["answered_by"] == "plugin"
    assert refused["why"] == "Refusing.heartbeat"
    assert refused["decisions"] == [{"handler": "Refusing.heartbeat", "decision": "Reply"}]
    assert refused["errors"] == ["GROUP_AUTHORIZATION_FAILED"]
    assert refused["resources"] == [{"type": "group", "name": "g", "error": "GROUP_AUTHORIZATION_FAILED"}]
    assert (ended["outcome"], ended["why"], "errors" in ended) == ("none", "enough", False)


def test_latency_is_told_of_broker_and_proxy_apart(audit: Audit, written: Written) -> None:
    talk = Conversation(audit)
    talk.clock.now = 10.0
    talk.ask(produce({0: RECORDS}), 1, 9)
    talk.clock.now = 10.25
    talk.answer(produced({0: (0, 1)}), 1, 9)
    event = next(event for event in written() if event["kind"] == "request")
    assert (event["broker_us"], event["proxy_us"]) == (250_000, 0)
    assert event["request_bytes"] > len(RECORDS)
    assert event["response_bytes"] > 0


def test_connections_are_told_with_all_that_is_known(audit: Audit, written: Written) -> None:
    talk = Conversation(audit)
    known = talk.link.connection
    audit.happened(known, Refused("PLAIN", "wrong password"))
    known.principal, known.mechanism, known.software_name, known.broker_id = "User:alice", "PLAIN", "librdkafka", 3
    audit.happened(known, Authenticated("PLAIN", "User:alice"))
    talk.clock.now += 2.5
    talk.link.release(None, 70, 80)
    events = written()
    assert [event["kind"] for event in events[1:-1]] == [
        "connection_opened",
        "authentication_failed",
        "connection_authenticated",
        "connection_closed",
    ]
    _, opened, failed, authenticated, closed, _ = events
    assert {name: opened[name] for name in PARTY if name in opened} == {
        "connection": 1,
        "cluster": "main",
        "listener": "clients",
        "client_host": "192.0.2.1",
        "client_port": 50000,
    }
    assert failed["why"] == "wrong password"
    for event in (authenticated, closed):
        assert (event["principal"], event["mechanism"], event["client_software"]) == (
            "User:alice",
            "PLAIN",
            "librdkafka",
        )
        assert event["broker"] == 3
    assert "why" not in closed
    assert (closed["lasted_us"], closed["bytes_from_client"], closed["bytes_from_broker"]) == (2_500_000, 70, 80)


@pytest.mark.parametrize(("shadow", "code"), [(False, ErrorCode["GROUP_AUTHORIZATION_FAILED"]), (True, None)])
def test_what_the_rules_do_not_allow_is_told_with_the_rule(
    audit: Audit, written: Written, tmp_path: Path, shadow: bool, code: ErrorCode | None
) -> None:
    rules = tmp_path / "acl.yaml"
    rules.write_text("acls: [{deny: User:*, to: Read, groups: g}]\n")
    acl = build(Acl, FakeWorker(name="acl"), rules=str(rules), shadow=shadow)
    acl.start()
    talk = Conversation(acl, audit)
    talk.link.connection.principal = "User:mallory"
    talk.ask(HeartbeatRequest(group_id="g", generation_id=1, member_id="m"), 1, 4)
    talk.link.release("gone")
    events = written()
    denied = next(event for event in events if event["kind"] == "denied")
    assert {name: value for name, value in denied.items() if name not in (*STAMP, *PARTY)} == {
        "principal": "User:mallory",
        "api": "Heartbeat",
        "operation": "Read",
        "resource_type": "group",
        "resource_name": "g",
        "why": denied["why"],
        "rule": f"{rules}:1:8",
        "enforced": not shadow,
    }
    (request,) = requests(events)
    assert request.get("errors") == ([code.name] if code else None)


def test_what_authenticates_is_never_told(audit: Audit, written: Written) -> None:
    talk = Conversation(audit)
    talk.ask(SaslAuthenticateRequest(auth_bytes=b"\0alice\0secret"), 1, 2)
    talk.answer(SaslAuthenticateResponse(error_code=0, error_message=None, auth_bytes=b"secret"), 1, 2)
    (event,) = requests(written())
    assert event["api"] == "SaslAuthenticate"


def test_a_request_of_many_resources_is_told_in_part(audit: Audit, written: Written) -> None:
    """It is large, so it is read in slices as well."""
    talk = Conversation(audit)
    partitions = dict.fromkeys(range(10_050), b"")
    tokens = [command.token for command in talk.ask(produce(partitions), 1, 9) if isinstance(command, Wake)]
    while tokens:
        tokens = [command.token for command in talk.link.wake(tokens.pop()) if isinstance(command, Wake)]
    talk.link.release("gone")
    (event,) = requests(written())
    assert len(event["resources"]) == 10_000
    assert event["resources_left_out"] == 50


def test_events_without_room_are_counted(tmp_path: Path) -> None:
    worker = FakeWorker()
    audit = build(Audit, worker, journal=str(tmp_path / "journal"))
    audit.start()
    talk = connection()
    for _ in range(50_010):
        audit.happened(talk, Refused("PLAIN", "wrong password"))
    assert worker.counts == {"lost_events": 10}
    audit.stop()


def test_a_connection_of_an_earlier_configuration_is_known_anew(tmp_path: Path) -> None:
    first = build(Audit, journal=str(tmp_path / "first"))
    first.start()
    talk = Conversation(first)
    second = build(Audit, journal=str(tmp_path / "second"))
    second.start()
    talk.link.apply(Filters([second]), Limits())
    talk.ask(produce({0: RECORDS}), 1, 9)
    talk.answer(produced({0: (0, 1)}), 1, 9)
    first.stop()
    second.stop()
    (path,) = segments(tmp_path / "second")
    events = [json.loads(line) for line in segment_lines(path)]
    assert [event["kind"] for event in events] == ["segment_opened", "request", "journal_closed"]
    assert events[1]["connection"] == 1


def test_a_journal_that_cannot_be_begun_keeps_the_proxy_from_starting(tmp_path: Path) -> None:
    (tmp_path / "journal").write_text("a file")
    with pytest.raises(PluginError, match="the journal cannot be written"):
        build(Audit, journal=str(tmp_path / "journal")).start()


def test_it_is_written_twenty_times_a_second(tmp_path: Path) -> None:
    worker = FakeWorker()
    audit = build(Audit, worker, journal=str(tmp_path / "journal"))
    audit.start()
    ((seconds, work),) = worker.works
    assert seconds == 0.05
    Conversation(audit)
    work()
    (path,) = segments(tmp_path / "journal")
    assert [json.loads(line)["kind"] for line in segment_lines(path)] == ["segment_opened", "connection_opened"]
    audit.stop()


def test_what_waits_for_the_disk_is_bounded_however_long_the_names_of_clients_are(audit: Audit) -> None:
    client = connection()
    client.client_id = "c" * 30_000
    for _ in range(1_000):
        audit.happened(client, Authenticated("PLAIN", "User:alice"))
    assert len(audit._journal._queue) < 1_000, "what found no room is one entry"


def test_a_name_that_was_denied_is_kept_as_far_as_brokers_know_names(audit: Audit, written: Written) -> None:
    audit.happened(connection(), Denied(HEARTBEAT, "Read", "Group", "g" * LARGEST, "no rule allows it", "", True))
    denied = written()[1]
    assert (denied["kind"], denied["resource_name"]) == ("denied", "g" * LONGEST_NAME)
