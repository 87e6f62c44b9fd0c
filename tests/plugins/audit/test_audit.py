"""The plugin: conversations, and their events in the journal."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plugins.acl import Acl
from plugins.audit import Audit
from plugins.audit.contents import segment_lines
from plugins.audit.events import LONGEST_NAME
from plugins.audit.frames import LARGEST
from plugins.audit.open_segment import OpenSegment
from plugins.audit.queue import SIZE
from plugins.audit.segments import segments
from plugins.audit.verify import verify
from plugins.faults import Faults
from proxy.core.clock import Clock
from proxy.core.filters import Filters
from proxy.core.limits import Limits
from proxy.core.link import Link
from proxy.plugin import (
    HEARTBEAT,
    Arrival,
    Authenticated,
    Context,
    Decision,
    Denied,
    Disconnect,
    EndTxnRequest,
    EndTxnResponse,
    ErrorCode,
    FetchRequest,
    FetchResponse,
    HeartbeatRequest,
    HeartbeatResponse,
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
    FakeClock,
    FakeWorker,
    Perform,
    ToBroker,
    ToClient,
    Wake,
    build,
    connection,
    from_broker,
    from_client,
    request_frame,
    response_frame,
)
from proxy.testing.lending import with_turns
from tests.plugins.audit.declared import undeclared
from tests.plugins.audit.written import full_disk

TOPIC_ID = bytes(range(16))
LONGEST_LOSS = 0.1  # seconds
MANY = 2_000  # partitions
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
                "operation": "Write",
            },
            {
                "type": "topic",
                "name": "orders",
                "partition": 1,
                "records": 3,
                "bytes": len(RECORDS),
                "error": "NOT_LEADER_OR_FOLLOWER",
                "operation": "Write",
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


def test_a_fetch_says_what_was_read_by_the_names_that_the_broker_is_asked_for(audit: Audit, written: Written) -> None:
    """Also of partitions of its session, which the request does not name. What clients are told is not believed."""
    talk = Conversation(audit)
    talk.ask(MetadataRequest(topics=None), 1, 12)
    topic = MetadataResponse.Topic(error_code=0, name="another", topic_id=TOPIC_ID, partitions=[])
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
    left, _ = with_turns(talk.link, talk.answer(FetchResponse(responses=[fetched], session_id=5), 2, 13))
    assert [command for command in left if isinstance(command, ToBroker)], "a question about the id"
    topic.name = "orders"
    talk.answer(MetadataResponse(brokers=[], topics=[topic]), 0, 12)
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
            "operation": "Read",
        }
    ]


def woken(talk: Conversation, commands: list[Command]) -> list[Command]:
    """What follows once the others had their turn."""
    tokens = [command.token for command in commands if isinstance(command, Wake)]
    return [after for token in tokens for after in talk.link.wake(token)]


def test_a_topic_that_is_not_known_is_asked_for_and_its_event_waits_for_the_name(
    audit: Audit, written: Written
) -> None:
    talk = Conversation(audit)
    talk.link.connection.broker_versions = {3: (0, 13)}
    topic = FetchRequest.Topic(topic_id=TOPIC_ID, partitions=[])
    first = talk.ask(FetchRequest(max_wait_ms=1, min_bytes=1, topics=[topic]), 1, 13)
    assert ToBroker in map(type, first), "it does not wait for the name"
    assert ToBroker in map(type, woken(talk, first)), "a question of ours"
    talk.answer(FetchResponse(responses=[]), 1, 13)
    named = MetadataResponse.Topic(error_code=0, name="orders", topic_id=TOPIC_ID, partitions=[])
    talk.answer(MetadataResponse(brokers=[], topics=[named]), 0, 12)
    (event,) = requests(written())
    assert event["resources"] == [
        {"type": "topic", "name": "orders", "id": "AAECAwQFBgcICQoLDA0ODw", "operation": "Read"}
    ]


def test_an_event_whose_topic_has_no_name_is_told_when_the_connection_ends(audit: Audit, written: Written) -> None:
    talk = Conversation(audit)
    topic = FetchRequest.Topic(topic_id=TOPIC_ID, partitions=[])
    talk.ask(FetchRequest(max_wait_ms=1, min_bytes=1, topics=[topic]), 1, 13)
    talk.answer(FetchResponse(responses=[]), 1, 13)
    talk.link.release("gone")
    (event,) = requests(written())
    assert event["resources"] == [{"type": "topic", "id": "AAECAwQFBgcICQoLDA0ODw", "operation": "Read"}]


LEVELS = """\
levels:
  - {match: {topic: hidden*}, level: none}
  - {match: {api: [Produce, Fetch]}, level: summary, window: 5s}
  - {match: {api: Heartbeat}, level: none}
"""


@pytest.fixture
def summing(tmp_path: Path) -> Audit:
    """With levels."""
    (tmp_path / "audit.yaml").write_text(LEVELS)
    plugin = build(Audit, journal=str(tmp_path / "journal"), levels=str(tmp_path / "audit.yaml"))
    plugin.start()
    return plugin


def events_of(audit: Audit, folder: Path) -> list[dict[str, Any]]:
    audit.stop()
    events = [json.loads(line) for path in segments(folder / "journal") for line in segment_lines(path)]
    assert not [problem for event in events for problem in undeclared(event)]
    return events


def test_requests_are_counted_together_where_the_levels_say_so(summing: Audit, tmp_path: Path) -> None:
    talk = Conversation(summing)
    for number, base in ((1, 100), (2, 103), (3, 106)):
        talk.ask(produce({0: RECORDS, 1: RECORDS}), number, 9)
        talk.answer(produced({0: (0, base), 1: (6, -1)}), number, 9)
    talk.link.release("gone")
    events = events_of(summing, tmp_path)
    assert [event["kind"] for event in events] == [
        "segment_opened",
        "connection_opened",
        "summary",
        "connection_closed",
        "journal_closed",
    ]
    assert events[0]["window_us"] == 5_000_000
    summary = events[2]
    assert (summary["api"], summary["requests"], summary["errors"]) == ("Produce", 3, ["NOT_LEADER_OR_FOLLOWER"])
    good, bad = summary["resources"]
    expected = {"requests": 3, "records": 9, "bytes": 3 * len(RECORDS), "first_offset": 100, "last_offset": 108}
    assert {name: good[name] for name in expected} == expected
    assert (bad["requests"], "records" in bad) == (3, False)
    assert bad["failures"] == [{"error": "NOT_LEADER_OR_FOLLOWER", "requests": 3, "records": 9}]


def test_what_is_out_of_the_ordinary_is_told_in_full(summing: Audit, tmp_path: Path) -> None:
    talk = Conversation(summing)
    talk.ask(produce({0: RECORDS}), 1, 9)
    talk.link.broker_closed()
    talk.link.release("gone")
    (event,) = requests(events_of(summing, tmp_path))
    assert (event["api"], event["outcome"]) == ("Produce", "none")


def test_an_error_that_is_of_no_resource_is_told_in_full(summing: Audit, tmp_path: Path) -> None:
    talk = Conversation(summing)
    for number, error in ((1, 0), (2, ErrorCode["INVALID_FETCH_SESSION_EPOCH"])):
        talk.ask(FetchRequest(max_wait_ms=1, min_bytes=1, topics=[], session_id=5, session_epoch=number), number, 12)
        talk.answer(FetchResponse(error_code=error, responses=[], session_id=5), number, 12)
    talk.link.release("gone")
    events = events_of(summing, tmp_path)
    assert [event["correlation_id"] for event in requests(events)] == [2]
    assert [event["requests"] for event in events if event["kind"] == "summary"] == [1]


def test_what_has_no_level_is_not_told(summing: Audit, tmp_path: Path) -> None:
    talk = Conversation(summing)
    talk.ask(HeartbeatRequest(group_id="g", generation_id=1, member_id="m"), 1, 4)
    talk.answer(HeartbeatResponse(error_code=0), 1, 4)
    request = MetadataRequest(topics=[MetadataRequest.Topic(name=name) for name in ("hidden-1", "seen")])
    talk.ask(request, 2, 9)
    talk.answer(MetadataResponse(brokers=[], topics=[]), 2, 9)
    (event,) = requests(events_of(summing, tmp_path))
    assert [resource["name"] for resource in event["resources"]] == ["seen"]


def test_another_file_of_levels_counts_from_the_next_request_on(tmp_path: Path) -> None:
    file = tmp_path / "audit.yaml"
    file.write_text("levels: [{level: none}]\n")
    worker = FakeWorker()
    audit = build(Audit, worker, journal=str(tmp_path / "journal"), levels=str(file))
    audit.start()
    talk = Conversation(audit)
    for number, text in ((1, "levels: [{level: full}]\n"), (2, "levels: [{level: nothing}]\n"), (3, "")):
        talk.ask(HeartbeatRequest(group_id="g", generation_id=1, member_id="m"), number, 4)
        talk.answer(HeartbeatResponse(error_code=0), number, 4)
        file.write_text(text)
        worker.look()
    told = requests(events_of(audit, tmp_path))
    assert [event["correlation_id"] for event in told] == [2, 3], "a bad file changes nothing"


@pytest.fixture
def worker() -> FakeWorker:
    return FakeWorker()


@pytest.fixture
def required(tmp_path: Path, worker: FakeWorker) -> Audit:
    """With the policy that no answer leaves before its event is on disk."""
    plugin = build(Audit, worker, journal=str(tmp_path / "journal"), policy="required", patience="100ms")
    plugin.start()
    return plugin


def on_disk(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in segments(folder / "journal") for line in segment_lines(path)]


def test_what_happened_is_on_disk_within_100_ms(tmp_path: Path, worker: FakeWorker) -> None:
    """The writer works so often that two of its turns fit into that time, and one turn writes all there is."""
    audit = build(Audit, worker, journal=str(tmp_path / "journal"))
    audit.start()
    ((pause, work),) = worker.works
    assert pause <= LONGEST_LOSS / 2
    for number in range(5_000):
        audit.happened(connection(), Refused("PLAIN", str(number)))
    work()
    assert [event["why"] for event in on_disk(tmp_path) if "why" in event] == [str(n) for n in range(5_000)]
    audit.stop()


def test_no_answer_leaves_before_its_event_is_on_disk(required: Audit, worker: FakeWorker, tmp_path: Path) -> None:
    talk = Conversation(required)
    talk.ask(produce({0: RECORDS}), 1, 9)
    (wait,) = [one for one in talk.answer(produced({0: (0, 7)}), 1, 9) if isinstance(one, Perform)]
    (again,) = talk.link.performed(wait.token, None, None)
    assert isinstance(again, Perform)
    assert not requests(on_disk(tmp_path))
    ((_, work),) = worker.works
    work()
    again.work()
    (event,) = requests(on_disk(tmp_path))
    assert event["resources"][0]["first_offset"] == 7
    assert ToClient in map(type, talk.link.performed(again.token, None, None))
    talk.link.release("gone")
    assert len(requests(events_of(required, tmp_path))) == 1, "it is told once"


def test_where_the_disk_is_full_the_connection_ends_and_none_is_accepted(
    required: Audit, worker: FakeWorker, tmp_path: Path
) -> None:
    talk = Conversation(required)
    talk.ask(produce({0: RECORDS}), 1, 9)
    (wait,) = [one for one in talk.answer(produced({0: (0, 7)}), 1, 9) if isinstance(one, Perform)]
    arrival = Arrival(("192.0.2.1", 50000), "clients", "main", None)
    assert required.accepted(arrival) is None
    with full_disk(tmp_path / "journal"):
        ((_, work),) = worker.works
        work()
        (wait,) = [one for one in talk.link.performed(wait.token, None, None) if isinstance(one, Perform)]
        assert isinstance(worker.clock, FakeClock)
        worker.clock.now += 0.1
        commands = talk.link.performed(wait.token, None, None)
        assert ToClient not in map(type, commands)
        assert talk.link.closed
        assert isinstance(required.accepted(arrival), Disconnect)
    events = events_of(required, tmp_path)
    assert len(requests(events)) == 1, "it was not lost"
    assert verify(tmp_path / "journal").is_intact


def test_an_answer_whose_event_finds_no_room_does_not_leave(required: Audit, tmp_path: Path) -> None:
    talk = Conversation(required)
    talk.ask(produce({0: RECORDS}), 1, 9)
    for long in (20_000, 0):
        other = connection()
        other.client_id = "c" * long
        for _ in range(1_000):
            required.happened(other, Refused("PLAIN", "wrong password"))
    commands = talk.answer(produced({0: (0, 7)}), 1, 9)
    assert ToClient not in map(type, commands)
    assert talk.link.closed
    events = events_of(required, tmp_path)
    assert not requests(events)
    assert events[-2]["kind"] == "events_lost"


def test_what_is_required_is_never_a_summary(tmp_path: Path) -> None:
    (tmp_path / "audit.yaml").write_text("levels: [{level: summary}]\n")
    options = {"policy": "required", "levels": str(tmp_path / "audit.yaml")}
    audit = build(Audit, journal=str(tmp_path / "journal"), **options)
    audit.start()
    talk = Conversation(audit)
    talk.ask(produce({0: RECORDS}, acks=0), 1, 9)
    assert [event["kind"] for event in events_of(audit, tmp_path)][2] == "request"


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
    assert refused["resources"] == [
        {"type": "group", "name": "g", "error": "GROUP_AUTHORIZATION_FAILED", "operation": "Read"}
    ]
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
        "rules": acl.rules.value.id,
        "correlation_id": 1,
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
    assert [resource["rule"] for resource in request["resources"]] == [f"{rules}:1:8"]


def test_what_a_fault_did_is_told_by_its_name(audit: Audit, written: Written, tmp_path: Path) -> None:
    file = tmp_path / "faults.yaml"
    file.write_text("faults: [{name: rebalance, match: {api: Heartbeat}, do: {error: REBALANCE_IN_PROGRESS}}]\n")
    faults = build(Faults, FakeWorker(name="faults"), rules=str(file))
    talk = Conversation(audit, faults)
    talk.ask(HeartbeatRequest(group_id="g", generation_id=1, member_id="m"), 1, 4)
    talk.answer(HeartbeatResponse(error_code=0), 1, 4)
    (request,) = requests(written())
    assert {"handler": "faults", "decision": "error", "rule": "rebalance"} in request["decisions"]


def test_a_failed_login_says_who_it_was_to_be(audit: Audit, written: Written) -> None:
    audit.happened(connection(), Refused("PLAIN", "unknown user or wrong password", "User:alice"))
    assert written()[1]["claimed"] == "User:alice"


def test_what_an_administrator_changes_is_told(audit: Audit, written: Written) -> None:
    talk = Conversation(audit)
    talk.ask(EndTxnRequest(transactional_id="x", producer_id=1, producer_epoch=0, committed=False), 1, 3)
    talk.answer(EndTxnResponse(throttle_time_ms=0, error_code=ErrorCode["INVALID_TXN_STATE"]), 1, 3)
    (request,) = requests(written())
    change = {"change": "abort", "type": "transactional_id", "name": "x", "error": "INVALID_TXN_STATE"}
    assert request["changes"] == [change]


def test_a_producers_clock_is_told_by_the_timestamps_of_its_batches(audit: Audit, written: Written) -> None:
    talk = Conversation(audit)
    records = [Record(None, b"", timestamp=at) for at in (1_700_000_000_500, 1_700_000_000_000)]
    talk.ask(produce({0: write_batch(records)}, acks=0), 1, 9)
    (request,) = requests(written())
    (resource,) = request["resources"]
    assert (resource["first_timestamp"], resource["last_timestamp"]) == (1_700_000_000_500, 1_700_000_000_500)


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


def test_writes_that_the_disk_refuses_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: OpenSegment, lines: list[bytes]) -> None:
        raise OSError(28, "No space left on device")

    worker = FakeWorker()
    audit = build(Audit, worker, journal=str(tmp_path / "journal"))
    audit.start()
    audit.happened(connection(), Refused("PLAIN", "wrong password"))
    monkeypatch.setattr(OpenSegment, "write", full)
    for _ in range(3):
        for _, work in worker.works:
            work()
        worker.clock.now += 1.0
    assert worker.counts == {"refused_writes": 3}


def test_a_journal_that_the_disk_refuses_at_the_start_refuses_the_start_only_where_it_is_required(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: OpenSegment, lines: list[bytes]) -> None:
        raise OSError(28, "No space left on device")

    worker = FakeWorker()
    audit = build(Audit, worker, journal=str(tmp_path / "journal"))
    with monkeypatch.context() as patched:
        patched.setattr(OpenSegment, "write", full)
        with pytest.raises(PluginError, match="No space left on device"):
            build(Audit, journal=str(tmp_path / "journal"), policy="required").start()
        audit.start()
        talk = Conversation(audit)
        talk.ask(produce({0: RECORDS}), 1, 9)
        assert ToClient in map(type, talk.answer(produced({0: (0, 1)}), 1, 9))
        assert worker.counts == {"refused_writes": 1}
    assert len(requests(events_of(audit, tmp_path))) == 1


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


def test_requests_of_two_configurations_are_each_told_by_their_own_as_one_connection(tmp_path: Path) -> None:
    audits = [build(Audit, journal=str(tmp_path / name)) for name in ("first", "second")]
    for audit in audits:
        audit.start()
    talk = Conversation(audits[0])
    talk.ask(produce({0: RECORDS}), 1, 9)
    talk.ask(produce({0: RECORDS}), 2, 9)
    talk.link.apply(Filters([audits[1]]), Limits())
    talk.ask(produce({0: RECORDS}), 3, 9)
    for number in (1, 2, 3):
        talk.answer(produced({0: (0, number)}), number, 9)
    talk.link.release("gone")
    assert not audits[1]._recorder.parties, "nothing is kept of it"
    told = []
    for audit, name in zip(audits, ("first", "second"), strict=True):
        audit.stop()
        lines = [json.loads(line) for path in segments(tmp_path / name) for line in segment_lines(path)]
        told.append([(event["connection"], event.get("correlation_id")) for event in lines if "connection" in event])
    assert told == [[(1, None), (1, 1), (1, 2)], [(1, 3), (1, None)]]


def test_an_event_that_waits_for_a_name_is_told_when_its_configuration_ends(audit: Audit, written: Written) -> None:
    """The connection goes on under another one."""
    talk = Conversation(audit)
    topic = FetchRequest.Topic(topic_id=TOPIC_ID, partitions=[])
    talk.ask(FetchRequest(max_wait_ms=1, min_bytes=1, topics=[topic]), 1, 13)
    talk.answer(FetchResponse(responses=[]), 1, 13)
    talk.link.apply(Filters([]), Limits())
    (event,) = requests(written())
    assert event["resources"] == [{"type": "topic", "id": "AAECAwQFBgcICQoLDA0ODw", "operation": "Read"}]


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


def test_what_is_in_the_journal_goes_to_the_topic_too(tmp_path: Path) -> None:
    worker, journal = FakeWorker(), tmp_path / "journal"
    audit = build(Audit, worker, journal=str(journal), topic={"name": "audit", "cluster": "other"})
    audit.start()
    there = Conversation(audit)
    for number in range(10):
        there.ask(HeartbeatRequest(group_id="g", generation_id=1, member_id="m"), number, 4)
        there.answer(HeartbeatResponse(error_code=0), number, 4)
    for _, work in worker.works:
        work()
    audit.stop()
    lines = [json.loads(line) for path in segments(journal) for line in segment_lines(path)]
    sent = [json.loads(bytes(record.value or b"")) for record in worker.written["other audit"].records]
    assert [event["data"] for event in sent] == lines
    assert {event["source"] for event in sent} == {"/doorkeeper/main"}
    assert lines[-1]["kind"] == "journal_closed"


def test_what_the_topic_cannot_take_is_told_in_the_journal(tmp_path: Path) -> None:
    worker, journal = FakeWorker(), tmp_path / "journal"
    audit = build(Audit, worker, journal=str(journal), topic={"name": "audit"})
    audit.start()
    worker.written["main audit"].largest = 100  # bytes, which nothing is less than
    for _, work in worker.works * 10:
        work()
    lines = [json.loads(line) for path in segments(journal) for line in segment_lines(path)]
    assert [event["lost"] for event in lines if event["kind"] == "events_unsent"] == [1]  # and none of itself
    audit.stop()
    assert worker.counts["unsent_events"] == verify(journal).events
    assert not verify(journal).remarks


def test_requests_that_a_connection_leaves_without_an_answer_are_told_by_the_writer_in_their_order(
    audit: Audit, written: Written
) -> None:
    """They are as many as the journal has no room for at once, if they were made."""
    talk, many = Conversation(audit), 600
    for number in range(many):
        commands = talk.ask(produce(dict.fromkeys(range(90), b"")), number, 9)
        while waiting := [one for one in commands if isinstance(one, Wake)]:
            commands = talk.link.wake(waiting[0].token)
    assert audit.held == 0
    talk.link.release("it was reset")
    assert audit.held > many * 90 * SIZE
    told = requests(written())
    assert [event["correlation_id"] for event in told] == [*range(many)]
    assert {(event["why"], len(event["resources"])) for event in told} == {("it was reset", 90)}
    assert audit.held == 0


@pytest.mark.parametrize("level", ["full", "summary"])
def test_what_a_large_request_is_about_is_told_by_the_writer_and_is_the_same(
    tmp_path: Path, worker: FakeWorker, level: str
) -> None:
    (tmp_path / "audit.yaml").write_text(f"levels: [{{match: {{partition: 7}}, level: none}}, {{level: {level}}}]\n")
    audit = build(Audit, worker, journal=str(tmp_path / "journal"), levels=str(tmp_path / "audit.yaml"))
    audit.start()
    talk = Conversation(audit)
    for turn in (talk.ask(produce(dict.fromkeys(range(MANY), b"")), 1, 9), None):
        commands = turn or talk.answer(produced(dict.fromkeys(range(MANY), (0, 4))), 1, 9)
        while waiting := [one for one in commands if isinstance(one, Wake)]:
            commands = talk.link.wake(waiting[0].token)
    assert not [event for event in on_disk(tmp_path) if event["kind"] in ("request", "summary")]
    audit.stop()
    (event,) = [event for event in on_disk(tmp_path) if event["kind"] in ("request", "summary")]
    assert event["kind"] == ("request" if level == "full" else "summary")
    assert [one["partition"] for one in event["resources"]] == [index for index in range(MANY) if index != 7]
