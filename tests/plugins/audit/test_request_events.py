"""Events of requests: each names the rules that decided on that very request, whatever is in force when it ends."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from plugins.audit.contents import segment_lines
from plugins.audit.segments import segments
from plugins.faults import Faults
from proxy.core.commands import ToBroker
from proxy.core.filters import Filters
from proxy.core.limits import Limits
from proxy.core.link import Link
from proxy.plugin import (
    PRODUCE,
    ApiVersionsRequest,
    CreateTopicsRequest,
    CreateTopicsResponse,
    ErrorCode,
    FetchResponse,
    ListGroupsRequest,
    ListGroupsResponse,
    Message,
    MetadataRequest,
    MetadataResponse,
    Plugin,
    ProduceResponse,
    refuse,
)
from proxy.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)
from proxy.testing import FakeWorker, build, connection, from_broker, from_client, request_frame, response_frame
from tests.plugins.acl.talk import Rules
from tests.plugins.acl.test_fetch import fetch, records
from tests.plugins.acl.test_produce import produce
from tests.plugins.audit.declared import undeclared
from tests.plugins.audit.test_counted import Reading
from tests.plugins.audit.test_traffic import BATCH

ALLOWED = "{{allow: User:*, to: [Write, Read, Describe], topics: {topics}, groups: '*', cluster: true}}"
LEVELS = {"full": "levels: [{level: full}]\n", "summary": "levels: [{level: summary, window: 1h}]\n"}
V = 9
LARGE = BATCH[:8] + (len(BATCH) - 12 + 200_000).to_bytes(4) + BATCH[12:] + bytes(200_000)
WRITING = produce(V, "orders", records=BATCH)


def allowing(line: int, topics: str = "'*'") -> str:
    """Rules that differ by the line of the one that allows all that is asked here."""
    others = "".join(f"- {{deny: User:bob, to: Read, topics: t{n}}}\n" for n in range(line - 2))
    return f"acls:\n{others}- {ALLOWED.format(topics=topics)}\n"


class Named(NamedTuple):
    """The rules that an event names: their id, and the lines of those that decided on its resources."""

    rules: str | None
    lines: tuple[str | None, ...] = ()


class Journaled:
    """A client whose requests are decided by rules, and recorded. The broker answers when the test says so."""

    def __init__(self, folder: Path, levels: str | None, before: Iterator[Plugin] | tuple[Plugin, ...] = ()) -> None:
        self.rules = Rules(folder / "acl.yaml", allowing(2))
        options = {}
        if levels is not None:
            (folder / "levels.yaml").write_text(LEVELS[levels])
            options["levels"] = str(folder / "levels.yaml")
        self.folder = folder / "journal"
        self.audit = build(Reading, FakeWorker(name="audit"), journal=str(self.folder), **options)
        self.audit.start()
        self.link = Link(connection(), Filters([*before, self.rules.acl, self.audit]))
        self.link.begin()
        self.ids = [self.rules.acl.rules.value.id]
        self._asked: list[tuple[int, int]] = []
        self._number = 0

    def become(self, text: str) -> None:
        """Other rules are in force."""
        self.rules.become(text)
        self.ids.append(self.rules.acl.rules.value.id)

    def ask(self, request: Any, version: int = V) -> None:
        self._number += 1
        self._asked.append((self._number, version))
        from_client(self.link, request_frame(request, version, self._number, "app"))

    def answer(self, response: Message) -> None:
        """The broker answers the oldest request."""
        number, version = self._asked.pop(0)
        from_broker(self.link, response_frame(response, version, number))

    def produced(self) -> None:
        self.answer(ProduceResponse(responses=[]))

    def events(self) -> list[dict[str, Any]]:
        self.link.client_closed()
        self.link.release("it is over")
        self.audit.stop()
        found = [json.loads(line) for path in segments(self.folder) for line in segment_lines(path)]
        assert not [problem for event in found for problem in undeclared(event)]
        return [event for event in found if event["kind"] in ("request", "summary")]

    def told(self) -> list[Named]:
        """The rules that the events of requests name, in the order of the requests."""
        return [named(event) for event in sorted(self.events(), key=lambda event: event["correlation_id"])]


def named(event: dict[str, Any]) -> Named:
    places = (resource.get("rule") for resource in event.get("resources") or ())
    return Named(event.get("rules"), tuple(place and place.split(":")[-2] for place in places))


Starting = Callable[..., Journaled]


@pytest.fixture
def started(tmp_path: Path) -> Starting:
    """A client of a proxy with rules and a journal."""
    return lambda levels=None, *before: Journaled(tmp_path, levels, before)


def test_it_names_the_rules_by_which_the_request_went_to_the_broker(started: Starting) -> None:
    talk = started()
    talk.ask(WRITING)
    talk.become(allowing(3))
    talk.ask(WRITING)
    for _ in range(2):
        talk.produced()
    first, second = talk.ids
    assert talk.told() == [Named(first, ("2",)), Named(second, ("3",))]


@pytest.mark.parametrize("version", [7, 11])
def test_a_fetch_that_is_checked_again_names_the_rules_that_decided_last(started: Starting, version: int) -> None:
    talk = started()
    for _ in range(3):
        talk.ask(fetch(version, "orders"), version)
    talk.answer(records(version, "orders"))
    talk.become(allowing(3))
    talk.answer(records(version, "orders"))
    talk.become(allowing(4))
    talk.answer(records(version, "orders"))
    assert talk.told() == [Named(rules, (line,) * 2) for rules, line in zip(talk.ids, "234", strict=True)]


def test_a_fetch_that_failed_at_the_broker_names_the_rules_that_let_it_pass(started: Starting) -> None:
    talk = started()
    talk.ask(fetch(11, "orders"), 11)
    talk.become(allowing(3))
    talk.answer(FetchResponse(error_code=70, responses=[]))
    assert talk.told() == [Named(talk.ids[0], ("2", "2"))]


def test_a_list_names_the_rules_that_decided_what_is_seen_of_it(started: Starting) -> None:
    talk = started()
    for _ in range(2):
        talk.ask(ListGroupsRequest(), 2)
    groups = [ListGroupsResponse.Group(group_id="g", protocol_type="")]
    talk.answer(ListGroupsResponse(error_code=0, groups=groups))
    talk.become(allowing(3))
    talk.answer(ListGroupsResponse(error_code=0, groups=groups))
    assert talk.told() == [Named(rules) for rules in talk.ids]


def test_an_answer_into_which_refusals_are_put_names_the_rules_of_its_request(started: Starting) -> None:
    talk = started()
    talk.become(allowing(2, "orders"))
    topics = [MetadataRequest.Topic(name=name) for name in ("orders", "secret")]
    talk.ask(MetadataRequest(topics=topics, allow_auto_topic_creation=False), 4)
    talk.become(allowing(3))
    there = MetadataResponse.Topic(error_code=0, name="orders", partitions=[])
    talk.answer(MetadataResponse(brokers=[], topics=[there]))
    assert talk.told() == [Named(talk.ids[1], ("2", None))]


@pytest.mark.parametrize("levels", LEVELS)
def test_a_request_that_was_not_read_names_its_rules_too(started: Starting, levels: str) -> None:
    talk = started(levels)
    talk.ask(WRITING)
    talk.produced()
    seen = talk.audit.read
    for _ in range(2):
        talk.ask(WRITING)
    talk.produced()
    is_compiled = talk.audit.counting(PRODUCE, V) is not None
    assert talk.audit.read == seen or not is_compiled
    talk.become(allowing(3))
    talk.ask(WRITING)
    for _ in range(2):
        talk.produced()
    first, second = talk.ids
    assert counted(talk.events()) == {Named(first, ("2",)): 3, Named(second, ("3",)): 1}


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("may", [True, False])
def test_a_large_request_that_is_not_read_does_not_get_to_its_end_by_rules_that_are_gone(
    started: Starting, levels: str, may: bool
) -> None:
    talk = started(levels)
    for _ in range(3):
        talk.ask(WRITING)
        talk.produced()
    frame = request_frame(produce(V, "orders", records=LARGE), V, 9, "app")
    from_client(talk.link, frame[:1000])
    talk.become(allowing(2) + "# the same" if may else "acls: []")
    from_client(talk.link, frame[1000:-1])
    commands = from_client(talk.link, frame[-1:])
    left = b"".join(bytes(each.data) for each in commands if isinstance(each, ToBroker))
    assert left == (frame[-1:] if may else b"")
    if may:
        from_broker(talk.link, response_frame(ProduceResponse(responses=[]), V, 9))
    outcomes = [event.get("outcome") for event in talk.events() if event.get("correlation_id") == 9]
    assert outcomes == ([] if may and levels == "summary" else ["answered" if may else "none"])


def test_a_request_that_is_answered_before_it_is_whole_is_told_once_where_its_rules_are_gone(started: Starting) -> None:
    talk = started("summary")
    for _ in range(3):
        talk.ask(WRITING)
        talk.produced()
    frame = request_frame(produce(V, "orders", records=LARGE), V, 9, "app")
    from_client(talk.link, frame[:1000])
    from_broker(talk.link, response_frame(ProduceResponse(responses=[]), V, 9))
    talk.become("acls: []")
    from_client(talk.link, frame[1000:])
    events = talk.events()
    assert sum(event.get("requests", 1) for event in events) == 4


@pytest.mark.parametrize("levels", LEVELS)
def test_rules_that_come_back_are_not_taken_for_those_between(started: Starting, levels: str) -> None:
    talk = started(levels)
    talk.ask(WRITING)
    talk.produced()
    talk.become(allowing(3))
    for _ in range(2):
        talk.ask(WRITING)
    talk.become(allowing(2))
    talk.ask(WRITING)
    for _ in range(3):
        talk.produced()
    first, second, third = talk.ids
    assert first == third
    assert counted(talk.events()) == {Named(first, ("2",)): 2, Named(second, ("3",)): 2}


def test_rules_that_say_the_same_elsewhere_in_their_file_are_named_there(started: Starting) -> None:
    talk = started("full")
    for _ in range(2):
        talk.ask(WRITING)
        talk.produced()
    talk.become("# The rules.\n" + allowing(2))
    for _ in range(3):
        talk.ask(WRITING)
        talk.produced()
    (rules,) = {*talk.ids}
    assert talk.told() == [Named(rules, ("2",))] * 2 + [Named(rules, ("3",))] * 3


def counted(events: list[dict[str, Any]]) -> Counter[Named]:
    """The number of requests by the rules that are named for them."""
    found: Counter[Named] = Counter()
    for event in events:
        found[named(event)] += event.get("requests", 1)
    return found


def test_a_summary_goes_on_where_requests_in_flight_end_by_rules_of_before(started: Starting) -> None:
    talk = started("summary")
    for _ in range(3):
        talk.ask(WRITING)
    talk.produced()
    talk.become(allowing(3))
    talk.ask(WRITING)
    for _ in range(3):
        talk.produced()
    first, second = talk.ids
    assert [(event["rules"], event["requests"]) for event in talk.events()] == [(first, 3), (second, 1)]


def test_a_request_that_passed_by_two_fast_paths_names_its_rules(started: Starting, tmp_path: Path) -> None:
    file = tmp_path / "faults.yaml"
    file.write_text("faults: [{name: one, match: {api: Produce, topic: other}, do: {error: UNKNOWN_SERVER_ERROR}}]\n")
    talk = started(None, build(Faults, FakeWorker(name="faults"), rules=str(file)))
    for _ in range(3):
        talk.ask(WRITING)
    talk.become(allowing(3))
    talk.ask(WRITING)
    for _ in range(4):
        talk.produced()
    first, second = talk.ids
    assert talk.told() == [Named(first, ("2",))] * 3 + [Named(second, ("3",))]


@pytest.mark.parametrize("levels", [None, *LEVELS])
def test_rules_that_are_gone_are_named_for_what_they_decided_and_for_nothing_else(
    started: Starting, levels: str | None
) -> None:
    talk = started(levels)
    talk.ask(WRITING)
    talk.produced()
    for _ in range(2):
        talk.ask(WRITING)
    talk.link.apply(Filters([talk.audit]), Limits())
    talk.rules.acl.replaced()
    talk.ask(WRITING)
    for _ in range(3):
        talk.produced()
    assert counted(talk.events()) == {Named(talk.ids[0], ("2",)): 3, Named(None, (None,)): 1}


def test_what_no_rules_decide_is_told_with_those_in_force(started: Starting) -> None:
    talk = started()
    for line in (3, 4):
        talk.ask(WRITING)
        talk.produced()
        free = ApiVersionsRequest(client_software_name="a", client_software_version="1")
        talk.ask(free, 3)
        answer = refuse(free.api, 3, free, ErrorCode.NONE)
        assert answer is not None
        talk.answer(answer)
        talk.become(allowing(line))
    first, second, _ = talk.ids
    assert talk.told() == [Named(first, ("2",)), Named(first), Named(second, ("3",)), Named(second)]


def test_a_rule_is_named_that_decided_at_its_time(started: Starting) -> None:
    talk = started("full")
    early = "- {allow: User:*, to: Write, topics: orders, during: {hours: 08:00-13:00}}\n"
    talk.become(f"acls:\n{early}{allowing(2).removeprefix('acls:')}".replace("\n\n", "\n"))
    talk.rules.clock.time += 3599  # it is 12:59:59
    talk.ask(WRITING)
    talk.produced()
    talk.ask(WRITING)
    talk.rules.clock.time += 1
    for _ in range(3):
        talk.ask(WRITING)
        talk.produced()
    talk.produced()
    assert [event.lines for event in talk.told()] == [("2",)] * 2 + [("3",)] * 3


def test_a_change_of_the_cluster_is_told_in_full_where_all_else_is_counted(started: Starting) -> None:
    talk = started("summary")
    talk.become("acls: [{allow: 'User:*', to: Alter, cluster: true}]\n")
    topic = AlterPartitionReassignmentsRequest.Topic
    moved = topic.Partition(partition_index=0, replicas=[1])
    talk.ask(AlterPartitionReassignmentsRequest(topics=[topic(name="orders", partitions=[moved])]), 0)
    talk.answer(AlterPartitionReassignmentsResponse(throttle_time_ms=0, error_code=0, error_message=None, responses=[]))
    (event,) = talk.events()
    assert (event["kind"], len(event["changes"])) == ("request", 1)


@pytest.mark.parametrize("validate_only", [True, False])
def test_a_failed_request_that_only_validates_is_told_apart_from_a_failed_change(
    started: Starting, validate_only: bool
) -> None:
    talk = started()
    topic = CreateTopicsRequest.Topic(name="t", num_partitions=3, replication_factor=1, assignments=[], configs=[])
    talk.become("acls: [{allow: User:*, to: Create, topics: '*'}]")
    talk.ask(CreateTopicsRequest(topics=[topic], validate_only=validate_only), 4)
    error = ErrorCode.TOPIC_ALREADY_EXISTS
    talk.answer(CreateTopicsResponse(topics=[CreateTopicsResponse.Topic(name="t", error_code=error)]))
    (event,) = talk.events()
    assert event["errors"] == ["TOPIC_ALREADY_EXISTS"]
    assert event.get("validate_only") == (True if validate_only else None)
    assert ("changes" in event) is not validate_only
