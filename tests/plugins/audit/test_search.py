"""Search: which events are found, in which order, in which folders."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import zstandard

from plugins.audit.pruning import prune
from plugins.audit.pseudonyms import Pseudonyms, pseudonyms
from plugins.audit.queue import QueuedEvent
from plugins.audit.redacted import redactor
from plugins.audit.redaction import RedactionRule
from plugins.audit.search import EventFilter, search
from plugins.audit.segments import segments
from plugins.audit.shown import shown
from tests.plugins.audit.written import KEY, START, Wall, chain, write

BEGIN = datetime.fromtimestamp(START, UTC)
PRODUCED = {
    "api": "Produce",
    "api_version": 9,
    "principal": "User:alice",
    "client_host": "10.0.0.1",
    "client_port": 7,
    "client_id": "app",
    "outcome": "answered",
    "answered_by": "broker",
    "broker_us": 1500,
    "proxy_us": 100,
    "errors": ["NOT_LEADER_OR_FOLLOWER"],
    "resources": [
        {"type": "topic", "name": "orders", "partition": 1, "records": 3, "first_offset": 5, "last_offset": 7},
        {"type": "topic", "name": "payments", "partition": 0, "error": "NOT_LEADER_OR_FOLLOWER"},
    ],
}


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """Two chains over five hours, an event each half an hour in turn."""
    wall = Wall()
    writers = [chain(tmp_path, instance, wall=wall) for instance in ("a", "b")]
    for number in range(10):
        wall.now = START + 1800 * number
        fields = PRODUCED if number % 2 else {"api": "Fetch", "api_version": 4, "outcome": "unknown", "why": "gone"}
        writers[number % 2].rotate(True)
        writers[number % 2].add(QueuedEvent("request", wall.now, None, {**fields, "correlation_id": number}))
        writers[number % 2].flush()
    for writer in writers:
        writer.end()
    return tmp_path


def event_of(**fields: Any) -> dict[str, Any]:
    told = {"kind": "request", "time": "t", "client_host": "h", "api": "X", "api_version": 1, "outcome": "answered"}
    return {**told, "answered_by": "broker", **fields}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"change": "create", "type": "topic", "name": "orders", "key": "partitions", "value": "3"},
            "create topic orders partitions 3",
        ),
        ({"change": "set", "type": "topic", "name": "orders", "key": "retention.ms"}, "set topic orders retention.ms"),
        (
            {"change": "reset offset", "type": "group", "name": "g", "key": "orders", "partition": 0, "value": "7"},
            "reset offset group g orders-0 7",
        ),
        (
            {
                "change": "delete records",
                "type": "topic",
                "name": "orders",
                "partition": 2,
                "key": "before offset",
                "value": "9",
            },
            "delete records topic orders-2 before offset 9",
        ),
        (
            {
                "change": "create",
                "type": "topic",
                "name": "pay-",
                "pattern": "Prefixed",
                "principal": "User:bob",
                "host": "*",
                "operation": "Read",
                "permission": "Allow",
                "error": "SECURITY_DISABLED",
            },
            "create ACL topic pay- (Prefixed): Allow User:bob Read from *, SECURITY_DISABLED",
        ),
    ],
)
def test_a_line_tells_what_an_administrator_changed(change: dict[str, Any], said: str) -> None:
    line = shown(event_of(changes=[change], resources=[{"type": "cluster", "name": "kafka-cluster"}]))
    assert line == f"t  h  X v1  {said}  answered by the broker, 0.0 ms"


def test_a_line_tells_how_many_changes_it_leaves_out() -> None:
    changes = [{"change": "delete", "type": "topic", "name": f"t{number}"} for number in range(7)]
    line = shown(event_of(changes=changes, changes_left_out=10))
    assert "delete topic t4; and 12 more changes" in line


def test_a_line_tells_that_a_change_was_only_asked_about() -> None:
    line = shown(event_of(validate_only=True, resources=[{"type": "topic", "name": "t", "error": "POLICY_VIOLATION"}]))
    assert line.startswith("t  h  X v1  only asked  topic t, POLICY_VIOLATION  ")


def test_a_line_about_a_failed_login_tells_as_whom() -> None:
    failed = {"kind": "authentication_failed", "time": "t", "client_host": "h", "claimed": "User:bob", "why": "no"}
    assert shown(failed) == "t  h  authentication failed, as User:bob, no"


def test_a_line_about_a_denial_by_rules_on_trial_says_that_it_was_let_through() -> None:
    denied = {"kind": "denied", "time": "t", "client_host": "h", "operation": "Read", "resource_type": "topic"}
    assert shown({**denied, "enforced": True, "why": "no"}) == "t  h  denied, Read topic, no"
    assert shown({**denied, "enforced": False, "why": "no"}) == (
        "t  h  denied, Read topic, no, let through since the rules are only tried"
    )


def test_an_address_of_ipv6_stands_apart_from_its_port() -> None:
    opened = {"kind": "connection_opened", "time": "t", "client_host": "2001:db8::1"}
    assert shown({**opened, "client_port": 4711}) == "t  [2001:db8::1]:4711  connection opened"
    assert shown(opened) == "t  2001:db8::1  connection opened"


def test_a_segment_that_was_moved_or_copied_is_read_once(journal: Path) -> None:
    whole = list(search(journal, EventFilter()))
    first, second, *_ = segments(journal)
    there = journal / "date=2026-03-01" / "hour=23"
    there.mkdir()
    first.rename(there / first.name)
    (there / second.name).write_bytes(second.read_bytes())
    assert list(search(journal, EventFilter())) == whole


def test_a_chain_is_read_only_once_the_time_of_its_beginning_is_reached(tmp_path: Path) -> None:
    wall = Wall()
    earlier = chain(tmp_path, "b", wall=wall)
    wall.now += 60
    later = chain(tmp_path, "a", wall=wall)
    found = search(tmp_path, EventFilter())
    assert next(found)["instance"] == "b"
    later.add(QueuedEvent("request", wall.now, None, PRODUCED))
    for writer in (earlier, later):
        writer.end()
    assert [(event["instance"], event["kind"]) for event in found] == [
        ("a", "segment_opened"),
        ("a", "request"),
        ("a", "journal_closed"),
    ]


def test_a_denial_is_found_by_its_resource() -> None:
    denied = {"kind": "denied", "time": "", "resource_type": "topic", "resource_name": "orders"}
    assert EventFilter(resource="ord*").includes(denied)
    assert not EventFilter(resource="payments").includes(denied)


def test_names_that_are_hashed_are_found_with_the_key() -> None:
    secret = Pseudonyms(bytes(32))
    hashed = {
        kind: secret.of(kind, name) for kind, name in (("principal", "alice"), ("topic", "t"), ("client_id", "c"))
    }
    resources = [{"type": "topic", "name": hashed["topic"]}]
    principal = f"User:{hashed['principal']}"
    event: dict[str, Any] = {"kind": "request", "time": "", "principal": principal, "client_id": hashed["client_id"]}
    event |= {"resources": resources}
    wanted = EventFilter(principal="User:alice", resource="t", client="c", pseudonyms=secret)
    assert wanted.includes(event)
    assert not EventFilter(principal="User:alice").includes(event)
    assert not EventFilter(principal="User:bob", pseudonyms=secret).includes(event)
    assert EventFilter(principal="User:alice", pseudonyms=secret).includes({**event, "principal": "User:alice"})


def test_what_is_found_says_with_which_keys_the_names_in_the_segments_are_hashed(tmp_path: Path) -> None:
    hashing = RedactionRule.model_validate({"fields": "topic", "how": "hash"})
    for number in range(2):
        writer = chain(tmp_path / "journal", f"{number}", redactor=redactor([hashing], tmp_path / f"secret{number}"))
        write(writer, range(3))
        writer.end()
    found = search(tmp_path / "journal", EventFilter(resource="none of this name"))
    assert not found.keys, "nothing is read before it is asked for"
    assert not list(found)
    assert found.keys == {pseudonyms(tmp_path / f"secret{number}").id for number in range(2)}


def test_clients_that_nobody_asked_are_found_as_the_rules_name_them() -> None:
    nobody: dict[str, Any] = {"kind": "request", "time": "", "listener": "clients"}
    wanted = EventFilter(principal="User:ANONYMOUS")
    assert wanted.includes(nobody)
    assert not EventFilter(principal="User:*").includes(nobody)
    for others in ({"principal": "User:a"}, {"mechanism": "GSSAPI"}, {"redacted": ["principal"]}):
        assert not wanted.includes(nobody | others)
    assert not wanted.includes({"kind": "segment_opened", "time": ""})


def numbers(journal: Path, wanted: EventFilter) -> list[int]:
    return [event["correlation_id"] for event in search(journal, wanted) if event["kind"] == "request"]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (EventFilter(), list(range(10))),
        (EventFilter(since=BEGIN + timedelta(hours=2), until=BEGIN + timedelta(hours=4)), [4, 5, 6, 7]),
        (EventFilter(principal="User:alice"), [1, 3, 5, 7, 9]),
        (EventFilter(principal="User:*"), [1, 3, 5, 7, 9]),
        (EventFilter(principal="User:bob"), []),
        (EventFilter(resource="pay*"), [1, 3, 5, 7, 9]),
        (EventFilter(resource="pay"), []),
        (EventFilter(api="Fetch"), [0, 2, 4, 6, 8]),
        (EventFilter(error="NOT_LEADER_OR_FOLLOWER", until=BEGIN + timedelta(hours=1)), [1]),
        (EventFilter(client="10.0.0.*", since=BEGIN + timedelta(hours=4)), [9]),
        (EventFilter(kind="journal_closed"), []),
    ],
)
def test_events_are_found_in_the_order_of_time(journal: Path, wanted: EventFilter, found: list[int]) -> None:
    assert numbers(journal, wanted) == found


def test_folders_that_cannot_have_them_are_not_read(journal: Path) -> None:
    for path in segments(journal):
        if path.parent.name == "hour=08":
            path.write_bytes(b"no segment")
    assert numbers(journal, EventFilter(since=BEGIN + timedelta(hours=3))) == [6, 7, 8, 9]


def test_what_was_written_while_no_other_segment_could_be_begun_is_found(tmp_path: Path) -> None:
    wall = Wall()
    writer = chain(tmp_path, wall=wall)
    three = BEGIN + timedelta(hours=3)
    (no_folder := tmp_path / f"date={three:%Y-%m-%d}" / f"hour={three:%H}").touch()
    wall.now = three.timestamp()
    with pytest.raises(FileExistsError):
        writer.rotate(True)
    writer.add(QueuedEvent("request", wall.now, None, {**PRODUCED, "correlation_id": 1}))
    writer.flush()
    assert numbers(tmp_path, EventFilter(since=three)) == [1]
    no_folder.unlink()
    writer.rotate(True)
    writer.end()
    assert numbers(tmp_path, EventFilter(since=three)) == [1]


def test_what_is_pruned_during_a_search_is_left_out(journal: Path) -> None:
    found = search(journal, EventFilter(api="Produce"))
    assert next(found)["correlation_id"] == 1
    assert len(list(prune(journal, BEGIN + timedelta(days=1), KEY, BEGIN))) == 10
    assert list(found) == []


def test_what_is_no_event_is_passed_over(journal: Path) -> None:
    path = segments(journal)[0]
    path.write_bytes(zstandard.compress(b'no json\n[1]\n{"time":1}\n') + path.read_bytes() + b"\x28\xb5")
    assert numbers(journal, EventFilter()) == list(range(10))


@pytest.mark.parametrize("kind", ["request", "summary", "denied", "connection_failed"])
def test_a_line_about_an_event_that_lacks_fields_says_what_is_there(kind: str) -> None:
    stamp = {"kind": kind, "schema": 3, "time": "t", "instance": "a", "worker": 0, "sequence": 1}
    assert shown(stamp).startswith("t  a-0  ")
    assert shown(stamp | {"connections": None, "resources": [{}], "changes": None}).startswith("t  a-0  ")


def test_a_line_says_who_what_and_what_came_of_it(journal: Path) -> None:
    fetched, produced = (shown(event) for event in list(search(journal, EventFilter(kind="request")))[:2])
    assert produced == (
        "2026-03-01T08:30:00.000000Z  User:alice 10.0.0.1:7 app  Produce v9  topic orders-1, 3 records, "
        "offsets 5 to 7; topic payments-0, NOT_LEADER_OR_FOLLOWER  "
        "answered by the broker, NOT_LEADER_OR_FOLLOWER, 1.6 ms"
    )
    assert fetched == "2026-03-01T08:00:00.000000Z  a-0  Fetch v4  unknown, gone, 0.0 ms"
    opened = next(search(journal, EventFilter(kind="segment_opened")))
    assert shown(opened) == "2026-03-01T08:00:00.000000Z  a-0  segment opened"
    lost = opened | {"kind": "events_lost", "lost": 3}
    assert shown(lost).endswith("events lost, 3 events")
    many = {"resources": [{"type": "topic", "name": "t", "partition": n} for n in range(9)]}
    assert "topic t-4; and 4 more" in shown({**PRODUCED, **many, "kind": "request", "time": ""})


def test_a_summary_says_how_many_requests_it_stands_for() -> None:
    resource = {"type": "topic", "name": "orders", "partition": 3, "records": 50, "first_offset": 7, "last_offset": 56}
    event = {"kind": "summary", "time": "", "instance": "a", "worker": 0, "api": "Produce", "api_version": 9}
    told = shown({**event, "requests": 12, "errors": ["X"], "resources": [resource]})
    assert told.endswith("12 requests of Produce v9  topic orders-3, 50 records, offsets 7 to 56  X")
    single = {**resource, "records": 1, "last_offset": 7}
    told = shown({**event, "requests": 1, "errors": [], "resources": [single]})
    assert told.endswith("  1 request of Produce v9  topic orders-3, 1 record, offset 7")
